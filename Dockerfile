# One image for everything: `docker run cleanslate scheduler`, `… gateway`, `… migrate`, `… topology apply`.
# docker build -t cleanslate:dev .
ARG BASE=node:24-bookworm-slim

FROM ${BASE} AS build
WORKDIR /src
COPY . .
# The same pnpm and lockfile as the set-up; services are bundled with what they need, so nothing of node_modules goes on.
RUN npx -y pnpm@12.21.0 install --frozen-lockfile \
  && infra/node_modules/.bin/tsdown --config infra/image/tsdown.config.ts \
  && mv .cleanslate/image/dist /dist && cp infra/image/run.mjs /dist/

FROM ${BASE}
LABEL org.opencontainers.image.title="Cleanslate" org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /dist /app/dist
COPY packages/store/migrations /app/migrations
# Nobody in particular: the files are root's, and nothing has to be written. A home for the command line, where there is one.
USER 10001:10001
WORKDIR /app
ENV NODE_ENV=production HEALTH_HOST=0.0.0.0 HEALTH_PORT=9090 HTTP_HOST=0.0.0.0 CLEANSLATE_HOME=/tmp/cleanslate
EXPOSE 8080 9090
# Node itself is process 1 and hears SIGTERM: no shell, no npm in between.
ENTRYPOINT ["node", "/app/dist/run.mjs"]
CMD ["--help"]
