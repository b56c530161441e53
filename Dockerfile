# Builds the bundle from one npm mirror and puts it, with Deno, on a base without shell or package manager.
# docker build -t jiss --build-arg NPM_MIRROR=https://npm.bank.example/ .
# docker run --read-only --cap-drop ALL --security-opt no-new-privileges --ulimit nofile=65536 --memory 1g \
#   -p 127.0.0.1:8080:8080 -v jiss-data:/data --env-file jiss.env jiss
# docs/operate/deploy/README.md says how this file was tested, and what was not tested.
ARG BUILD_IMAGE=node:22-bookworm-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/cc-debian12:nonroot

FROM ${BUILD_IMAGE} AS build
ARG NPM_MIRROR=https://registry.npmjs.org/
# A file of the build image; needed if the mirror's certificate is of your own authority.
ARG NODE_EXTRA_CA_CERTS
ENV NPM_CONFIG_REGISTRY=${NPM_MIRROR} DENO_NO_UPDATE_CHECK=1 NO_COLOR=1
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
WORKDIR /build
# Deno's archive is compared with the digest in this repository before anything in it runs.
COPY .deno-version docs/operate/deploy/deno.sha512 ./
RUN case "$(uname -m)" in aarch64) system=linux-arm64-glibc ;; *) system=linux-x64-glibc ;; esac && \
    npm pack --silent "@deno/$system@$(cat .deno-version)" && \
    sha512sum --check --ignore-missing deno.sha512 && \
    tar -xzf deno-*.tgz --strip-components=1 package/deno && \
    chmod 0755 deno
COPY deno.json deno.lock package.json main.ts ./
COPY src src
COPY migrations migrations
COPY case_sets case_sets
COPY scripts scripts
COPY docs/verify/evidence-format.md docs/verify/formulas.md docs/verify/verify-offline.md docs/verify/
COPY docs/operate/deploy/deno.sha512 docs/operate/deploy/
COPY tests/deno.lock tests/
COPY tests/browser/deno.json tests/browser/
# The commit's time, for jiss.cdx.json: --build-arg SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)"
ARG SOURCE_DATE_EPOCH
# Deno checks every package against deno.lock.
RUN ./deno task sbom && \
    mkdir -m 0700 data

FROM ${RUNTIME_IMAGE}
COPY --from=build /build/deno /build/dist/jiss.js /build/dist/jiss.cdx.json /build/dist/licences.txt /opt/jiss/
COPY --from=build --chown=65532:65532 --chmod=0700 /build/data /data
# Half of the least memory, 1,024 MiB. If you grant more: docs/operate/configuration.md, Memory.
ENV DENO_V8_FLAGS=--max-old-space-size=512 MALLOC_MMAP_THRESHOLD_=131072
ENV JISS_HOST=0.0.0.0 JISS_DATA_DIR=/data JISS_LOG=json DENO_DIR=/tmp/deno DENO_NO_UPDATE_CHECK=1
USER 65532:65532
WORKDIR /data
VOLUME ["/data"]
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s CMD ["/opt/jiss/deno", "run", "--quiet", "--no-prompt", "--no-config", "--no-remote", "--no-npm", "--cached-only", "--allow-read", "--allow-write", "--allow-net", "--allow-env", "--allow-sys=statfs", "--deny-net=169.254.0.0/16,[fd00:ec2::254],[fd00:ec2::23],[fd20:ce::254],100.100.100.200,168.63.129.16", "/opt/jiss/jiss.js", "healthcheck"]
ENTRYPOINT ["/opt/jiss/deno", "run", "--quiet", "--no-prompt", "--no-config", "--no-remote", "--no-npm", "--cached-only", "--unstable-kv", "--allow-read", "--allow-write", "--allow-net", "--allow-env", "--allow-sys=statfs", "--deny-net=169.254.0.0/16,[fd00:ec2::254],[fd00:ec2::23],[fd20:ce::254],100.100.100.200,168.63.129.16", "/opt/jiss/jiss.js"]
CMD ["serve"]
