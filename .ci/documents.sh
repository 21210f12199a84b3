# Links, names, the documentation site, the crate that is published. A part of `.ci/run`; the site needs mdbook on PATH.
if has python3; then
  step "links of the documents" tools/book.py --links
  step "ways of newcomers" tools/newcomers.py
  step "documentation site" tools/book.py
  step "names of registry and repository" tools/release.sh names --check
  step "published crate" tools/release.sh package --allow-dirty
else
  left_out "links, documentation site, names, published crate" "python3 is not on PATH"
fi
step "install of a release" tests/install.sh
