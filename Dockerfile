# Builds the one binary and puts it on a base without shell or package manager.
# docker build -t jiss . && docker run --read-only -p 8080:8080 -v jiss-data:/data --env-file jiss.env jiss
FROM denoland/deno:2.9.6 AS build
WORKDIR /build
COPY deno.json deno.lock .deno-version main.ts ./
COPY src src
COPY migrations migrations
COPY scripts scripts
COPY docs/evidence-format.md docs/formulas.md docs/verify-offline.md docs/
RUN deno task compile && mkdir /data

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /build/dist/jiss /jiss
COPY --from=build --chown=nonroot:nonroot --chmod=0700 /data /data
ENV JISS_HOST=0.0.0.0 JISS_DATA_DIR=/data JISS_LOG=json
USER nonroot
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s CMD ["/jiss", "healthcheck"]
ENTRYPOINT ["/jiss"]
CMD ["serve"]
