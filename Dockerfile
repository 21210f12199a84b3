# One image per function, or with FUNCTION=krmv one image with all functions (`docker run IMAGE merge-package`):
#   docker build --build-arg FUNCTION=set-package-context -t krm-variants/set-package-context .
#
# Where no registry can be reached, a directory that holds a static binary called <name> stands in for
# the build stage: podman build --network none --build-context build=DIR --build-arg FUNCTION=<name> .

FROM rust:1 AS build
ARG FUNCTION
WORKDIR /src
COPY . .
# musl, since `FROM scratch` has no C library: the binary must be static.
RUN target="$(uname -m)-unknown-linux-musl" \
 && rustup target add "$target" \
 && RUSTFLAGS="-C relocation-model=static" \
    cargo build --profile dist --locked --target "$target" --package "$FUNCTION" \
 && cp "target/$target/dist/$FUNCTION" "/$FUNCTION"

FROM scratch
ARG FUNCTION
ARG VERSION=unreleased
ARG REVISION=
ARG SOURCE=https://github.com/krm-variants/krm-variants
LABEL org.opencontainers.image.title="${FUNCTION}" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.documentation="${SOURCE}/tree/main/functions/${FUNCTION}" \
      org.opencontainers.image.licenses="Apache-2.0"
# kpt and kustomize always pass `--user nobody`, and engines refuse a user that /etc/passwd lacks.
COPY container/etc /etc
# A fixed name, since ENTRYPOINT in its exec form cannot expand FUNCTION and scratch has no shell.
COPY --from=build /${FUNCTION} /function
USER 65534
ENTRYPOINT ["/function"]
