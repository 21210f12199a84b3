{
  description = "Upgrades edited copies of Kubernetes manifests without losing edits";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = nixpkgs.lib.importTOML ./Cargo.toml;
    in {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "krm-variants";
          inherit (manifest.workspace.package) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          # The tests run in CI; they need Git repositories and more time than a build.
          doCheck = false;
          cargoBuildFlags = [ "--bin" "krmv" ];
          nativeBuildInputs = [ pkgs.installShellFiles ];
          # krmv has every function, and is one by its name.
          postInstall = ''
            for function in functions/*/; do ln -s krmv $out/bin/$(basename $function); done
            $out/bin/krmv man man
            installManPage man/*
            for shell in bash zsh fish; do $out/bin/krmv completion $shell >krmv.$shell; done
            installShellCompletion krmv.bash krmv.zsh krmv.fish
          '';
          meta = {
            inherit (manifest.package) description;
            homepage = manifest.workspace.package.repository;
            license = pkgs.lib.licenses.asl20;
            mainProgram = "krmv";
          };
        };
      });
    };
}
