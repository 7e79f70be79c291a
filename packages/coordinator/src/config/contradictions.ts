/** Values that are each valid, but not together. */
import type { Config } from './settings.js';

export function contradictions(config: Config): string[] {
  const problems: string[] = [];
  if (config.deadMs <= config.pingMs) {
    problems.push(
      `GATEWAY_DEAD_S is ${config.deadMs / 1000}: it must be more than GATEWAY_PING_S, which is ` +
        `${config.pingMs / 1000}, or every idle link is taken for dead.`,
    );
  }
  if (config.maxBodyMemoryBytes < config.maxJsonBytes) {
    problems.push(
      'GATEWAY_MAX_BODY_MEMORY_MB is less than GATEWAY_MAX_JSON_MB: the largest body that is ' +
        'allowed would always be refused.',
    );
  }
  if (config.metricsPort === config.port && config.port !== 0) {
    problems.push(
      `GATEWAY_METRICS_PORT is ${config.port}, the port of the API itself: choose another, or ` +
        'set GATEWAY_METRICS_TOKEN alone to have the metrics there.',
    );
  }
  if (config.nodeUrl !== null && config.databaseUrl === null && config.databaseUrlFile === null) {
    problems.push(
      'GATEWAY_NODE_URL is set, and the database is SQLite, which has one coordinator: set ' +
        'GATEWAY_DATABASE_URL, too.',
    );
  }
  if (config.nodeListen !== null && config.nodeUrl === null) {
    problems.push(
      'GATEWAY_NODE_LISTEN is set without GATEWAY_NODE_URL, which tells the other coordinators ' +
        'where that is.',
    );
  }
  problems.push(...oidcContradictions(config));
  return problems;
}

function oidcContradictions(config: Config): string[] {
  const problems: string[] = [];
  if (config.oidcIssuer === null) {
    const isUseless = config.oidcClientId !== null || config.oidcDomains !== null;
    if (isUseless) problems.push('GATEWAY_OIDC_… is set without GATEWAY_OIDC_ISSUER: set it, too.');
    return problems;
  }
  if (config.oidcClientId === null) {
    problems.push(
      'GATEWAY_OIDC_ISSUER is set without GATEWAY_OIDC_CLIENT_ID, by which the provider knows ' +
        'this gateway: register it there, and set that.',
    );
  }
  if (config.publicUrl === null) {
    problems.push(
      'GATEWAY_OIDC_ISSUER is set without GATEWAY_PUBLIC_URL, to which the provider sends people ' +
        'back: set it, too.',
    );
  }
  if ((config.oidcAdminClaim === null) !== (config.oidcAdminValue === null)) {
    problems.push(
      'Only one of GATEWAY_OIDC_ADMIN_CLAIM and GATEWAY_OIDC_ADMIN_VALUE is set: set both or none.',
    );
  }
  return problems;
}
