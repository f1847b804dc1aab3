# apkgate with adb and git: for CI systems other than GitHub's, and for devices
# that are reached over the network. docs/ci.md shows its use, docs/releasing.md
# how it is built and tried.
#
# The bases are pinned by version, adb by Debian's. git and the certificates are
# those of that Debian, with its security fixes on the day of the build.

FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN ["go", "mod", "download"]
COPY . .
ARG VERSION=""
ENV CGO_ENABLED=0 GOFLAGS=-mod=readonly
RUN go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/apkgate/apkgate/internal/version.release=$VERSION" \
    -o /out/apkgate ./cmd/apkgate

FROM debian:12.11-slim
RUN apt-get update && \
    apt-get install -y --no-install-recommends adb=1:29.0.6-28 ca-certificates git && \
    apt-get clean && rm -rf /var/lib/apt/lists/* && \
    useradd --uid 10001 --create-home apkgate && \
    install -d -o apkgate -g apkgate /work
COPY --from=build /out/apkgate /usr/local/bin/apkgate
USER apkgate
WORKDIR /work
ENTRYPOINT ["apkgate"]
CMD ["--help"]
