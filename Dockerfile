# The image of olmguard, for who builds with an engine. `cargo xtask image` makes the same without one
# (docs/image.md), and its tests compare what both say.

FROM rust:1.95 AS build
WORKDIR /olmguard
COPY . .
# What `olmguard version` says it is built from: --build-arg OLMGUARD_COMMIT=$(git rev-parse HEAD)
ARG OLMGUARD_COMMIT
RUN cargo xtask build --output /olmguard-static

FROM scratch
COPY xtask/src/image/root/ /
COPY --from=build --chmod=555 /olmguard-static /olmguard
ENV MIMALLOC_PURGE_DELAY=0
USER 65532:65532
WORKDIR /
EXPOSE 8080 9443
ENTRYPOINT ["/olmguard"]
LABEL org.opencontainers.image.title="olmguard" \
      org.opencontainers.image.description="Check ClusterExtension changes before OLM v1 acts on them" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0"
