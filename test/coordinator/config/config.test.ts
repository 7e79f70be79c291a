import {
  loadConfig,
  locateData,
  locateStore,
  readQueueLimits,
} from '@inference-gateway/coordinator/config/config';
import type { Config } from '@inference-gateway/coordinator/config/config';
import { SETTINGS } from '@inference-gateway/coordinator/config/settings';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';

describe('a value', () => {
  test('comes from the flag, else the environment, else the file, else the default', async () => {
    const config = await configFile({ host: 'file', port: 3, log_level: 'warn', ping_s: 1 });
    const environment = { GATEWAY_CONFIG: config, GATEWAY_HOST: 'env', GATEWAY_PORT: '2' };
    expect(loadConfig({ port: '1' }, environment)).toMatchObject({
      port: 1,
      host: 'env',
      logLevel: 'warn',
      pingMs: 1_000,
      deadMs: 40_000,
    });
  });

  test('of the flag --config wins over the environment', async () => {
    const [flag, variable] = [await configFile({ port: 1 }), await configFile({ port: 2 })];
    expect(loadConfig({ config: flag }, { GATEWAY_CONFIG: variable }).port).toBe(1);
    expect(loadConfig({}, { GATEWAY_CONFIG: variable }).port).toBe(2);
  });

  test('that is an empty variable counts as unset', () => {
    expect(loadConfig({}, { GATEWAY_PORT: '', GATEWAY_CONFIG: '' }).port).toBe(7070);
  });

  test('in seconds or MiB may have a fraction', () => {
    const config = loadConfig({}, { GATEWAY_SYNC_WAIT_S: '0.25', GATEWAY_MAX_JSON_MB: '0.5' });
    expect(config).toMatchObject({ syncWaitMs: 250, maxJsonBytes: 524_288 });
  });

  test('in GiB or days is kept in bytes and milliseconds', () => {
    const written = { GATEWAY_ASSETS_MAX_GB: '0.5', GATEWAY_RETENTION_DAYS: '0.5' };
    const { assetsMaxBytes, retentionMs } = loadConfig({}, written);
    expect([assetsMaxBytes, retentionMs]).toEqual([536_870_912, 43_200_000]);
  });

  test.each([
    ['true', true],
    ['false', false],
  ])('of a switch is %s', (written, read) => {
    const environment = { GATEWAY_ASYNC_ENABLED: written, GATEWAY_WEBHOOK_PRIVATE: written };
    const { asyncEnabled, webhookPrivate } = loadConfig({}, environment);
    expect([asyncEnabled, webhookPrivate]).toEqual([read, read]);
  });

  test('of a switch in the file is a text, like every other, or a boolean of JSON', async () => {
    const file = await configFile({ async_enabled: false, webhook_private: 'true' });
    const { asyncEnabled, webhookPrivate } = loadConfig({ config: file }, {});
    expect([asyncEnabled, webhookPrivate]).toEqual([false, true]);
  });

  test('for the data folder is relative to the file that names it, if one does', async () => {
    const config = await configFile({ data: 'data' });
    expect(loadConfig({ config }, {}).dataDir).toBe(join(config, '..', 'data'));
    expect(loadConfig({ config, data: 'data' }, {}).dataDir).toBe('data');
    expect(locateData({}, { GATEWAY_CONFIG: config })).toBe(join(config, '..', 'data'));
  });

  test('for the file of the database URL likewise', async () => {
    const config = await configFile({ database_url_file: 'url' });
    const url = 'postgres://gateway:secret@db.example.org/gateway';
    await writeFile(join(config, '..', 'url'), `${url}\n`);
    expect(loadConfig({ config }, {}).databaseUrl).toBe(url);
    expect(locateStore({ config }, {})).toEqual({ dataDir: './data', databaseUrl: url });
  });

  test('for the public URL is kept as an origin', () => {
    const { publicUrl } = loadConfig({ publicUrl: 'https://Gateway.example.org/' }, {});
    expect(publicUrl).toBe('https://gateway.example.org');
    expect(loadConfig({}, {}).publicUrl).toBeNull();
  });
});

test('the defaults are those of the documentation', () => {
  expect(loadConfig({}, {})).toEqual({
    dataDir: './data',
    databaseUrl: null,
    databaseUrlFile: null,
    nodeName: null,
    nodeUrl: null,
    nodeListen: null,
    filesUrl: null,
    filesAccessKey: null,
    filesAccessKeyFile: null,
    filesSecretKey: null,
    filesSecretKeyFile: null,
    filesRedirectMs: 0,
    host: '127.0.0.1',
    port: 7070,
    publicUrl: null,
    oidcIssuer: null,
    oidcClientId: null,
    oidcClientSecret: null,
    oidcClientSecretFile: null,
    oidcName: 'single sign-on',
    oidcScopes: 'openid email profile',
    oidcDomains: null,
    oidcAdminClaim: null,
    oidcAdminValue: null,
    logLevel: 'info',
    logFormat: null,
    trustProxy: 0,
    rateLimitRequests: 600,
    rateLimitWindowMs: 60_000,
    maxConcurrent: 256,
    maxJsonBytes: 33_554_432,
    maxBodyMemoryBytes: 536_870_912,
    syncWaitMs: 60_000,
    syncDeadlineMs: 280_000,
    breakerOpenMs: 30_000,
    reconnectWaitMs: 5_000,
    firstByteMs: 120_000,
    idleMs: 60_000,
    earlyHeadersMs: 15_000,
    keepAliveMs: 10_000,
    stallMs: 60_000,
    drainMs: 30_000,
    pingMs: 15_000,
    deadMs: 40_000,
    acceptMs: 5_000,
    jobLeaseMs: 60_000,
    providerApproval: false,
    asyncEnabled: true,
    jobMaxAttempts: 3,
    jobNoProviderMs: 3_600_000,
    jobDeadlineMs: 900_000,
    jobImageDeadlineMs: 1_800_000,
    jobFilmDeadlineMs: 7_200_000,
    maxQueuedJobs: 10_000,
    maxQueuedBytes: 1024 ** 3,
    webhookPrivate: false,
    metricsToken: null,
    metricsPort: null,
    maxImages: 4,
    maxSpeechCharacters: 5_000,
    assetsAccess: 'private',
    assetsLinkMs: 3_600_000,
    assetsMaxBytes: 20 * 1024 ** 3,
    retentionMs: 30 * 86_400_000,
    downloadsDir: null,
    usageRetentionMs: 90 * 86_400_000,
    auditRetentionMs: 1_095 * 86_400_000,
  } satisfies Config);
});

test('every default is a value that its own setting allows', () => {
  const settings = Object.values(SETTINGS);
  const set = settings.filter((setting) => setting.default !== null);
  expect(set.filter((setting) => setting.parse(setting.default ?? '') === null)).toEqual([]);
  expect(new Set(settings.map(({ name }) => name)).size).toBe(settings.length);
});

describe('what is wrong', () => {
  test('is told all at once, with names, values and what is allowed', async () => {
    const config = await configFile({ host: '', idle_s: 'soon', stall_s: null, pong_s: 1 });
    const environment = { GATEWAY_SYNC_WAIT: '5', GATEWAY_LOG_LEVEL: 'loud', GATEWAY_PORT: 'x' };
    const error = refusal({ config, port: '70000', publicUrl: 'ftp://x' }, environment);
    expect(error.exitCode).toBe(EXIT.usage);
    expect(error.message.split('\n  ')).toEqual([
      'the configuration has 8 problems:',
      'GATEWAY_SYNC_WAIT is no setting of this program. Did you mean GATEWAY_SYNC_WAIT_S?',
      `stall_s in ${config} is null: allowed is text, a number, true or false.`,
      `pong_s in ${config} is no setting of this program. Did you mean ping_s?`,
      `host in ${config} is '': allowed is a text that is not empty.`,
      "--port is '70000': allowed is a whole number from 0 to 65535.",
      `--public-url is 'ftp://x': allowed is ${SETTINGS.publicUrl.allowed}.`,
      "GATEWAY_LOG_LEVEL is 'loud': allowed is trace, debug, info, warn, error, fatal, silent.",
      `idle_s in ${config} is 'soon': allowed is 0.05 to 86400 seconds.`,
    ]);
  });

  test.each([
    ['GATEWAY_PORT', '-1'],
    ['GATEWAY_PORT', '80.5'],
    ['GATEWAY_PORT', '0x50'],
    ['GATEWAY_PORT', ' 80'],
    ['GATEWAY_RATE_LIMIT_REQUESTS', '0'],
    ['GATEWAY_SYNC_WAIT_S', '1e2'],
    ['GATEWAY_SYNC_WAIT_S', '60s'],
    ['GATEWAY_SYNC_DEADLINE_S', '0'],
    ['GATEWAY_SYNC_DEADLINE_S', '86401'],
    ['GATEWAY_TRUST_PROXY', 'true'],
    ['GATEWAY_PUBLIC_URL', 'gateway.example.org'],
    ['GATEWAY_PUBLIC_URL', 'https://gateway.example.org/v1'],
    ['GATEWAY_PUBLIC_URL', 'https://gateway.example.org/?a=1'],
    ['GATEWAY_PUBLIC_URL', 'https://anna:secret@gateway.example.org'],
    ['GATEWAY_LOG_LEVEL', 'INFO'],
    ['GATEWAY_ASYNC_ENABLED', 'yes'],
    ['GATEWAY_ASYNC_ENABLED', 'TRUE'],
    ['GATEWAY_ASYNC_ENABLED', '1'],
    ['GATEWAY_WEBHOOK_PRIVATE', '0'],
    ['GATEWAY_JOB_MAX_ATTEMPTS', '0'],
    // Node's timers fire at once if they are set to more than 24 days.
    ['GATEWAY_JOB_FILM_DEADLINE_S', '2592000'],
    ['GATEWAY_MAX_QUEUED', '0'],
  ])('is %s=%s', (name, value) => {
    expect(refusal({}, { [name]: value }).message).toContain(`${name} is '${value}': allowed is`);
  });

  test('is a pair of values that cannot work together', () => {
    const environment = {
      GATEWAY_PING_S: '40',
      GATEWAY_MAX_JSON_MB: '64',
      GATEWAY_MAX_BODY_MEMORY_MB: '32',
    };
    const { message } = refusal({}, environment);
    expect(message).toContain('GATEWAY_DEAD_S is 40: it must be more than GATEWAY_PING_S');
    expect(message).toContain('GATEWAY_MAX_BODY_MEMORY_MB is less than GATEWAY_MAX_JSON_MB');
  });

  test('is half of an OpenID provider, and one whose secret is in two places', async () => {
    const issuer = { GATEWAY_OIDC_ISSUER: 'https://id.example.org', GATEWAY_OIDC_ADMIN_CLAIM: 'a' };
    const half = refusal({}, issuer).message;
    for (const missing of ['CLIENT_ID', 'ADMIN_VALUE']) expect(half).toContain(`OIDC_${missing}`);
    expect(half).toContain('without GATEWAY_PUBLIC_URL');
    const client = { GATEWAY_OIDC_CLIENT_ID: 'gateway' };
    expect(refusal({}, client).message).toContain('without GATEWAY_OIDC_ISSUER');
    const open = { GATEWAY_OIDC_ISSUER: 'http://id.example.org', GATEWAY_OIDC_DOMAINS: 'a@b' };
    const { message } = refusal({}, open);
    expect(message).toContain('allowed is an https URL, or http to this machine');
    expect(message).toContain("GATEWAY_OIDC_DOMAINS is 'a@b'");

    const file = join(await temporaryFolder(), 'secret');
    await writeFile(file, 'hidden\n');
    const whole = { ...client, GATEWAY_OIDC_ISSUER: 'https://id.example.org' };
    const given = {
      ...whole,
      GATEWAY_PUBLIC_URL: 'https://gateway.example.org',
      GATEWAY_OIDC_DOMAINS: 'Example.org, example.com',
      GATEWAY_OIDC_CLIENT_SECRET_FILE: file,
    };
    const { oidcClientSecret, oidcDomains } = loadConfig({}, given);
    expect([oidcClientSecret, oidcDomains]).toEqual(['hidden', ['example.org', 'example.com']]);
    const twice = refusal({}, { ...given, GATEWAY_OIDC_CLIENT_SECRET: 'told' }).message;
    expect(twice).toContain('GATEWAY_OIDC_CLIENT_SECRET_FILE are both set');
  });

  test.each(['[]', '"text"', '{"port": 1', ''])('is a file that holds %s', async (text) => {
    const config = join(await temporaryFolder(), 'config.json');
    await writeFile(config, text);
    const error = refusal({ config }, {});
    expect(error.exitCode).toBe(EXIT.usage);
    expect(error.message).toContain(`${config} is not a JSON object`);
  });

  test('is a named file that is missing, with an exit code of its own', () => {
    const error = refusal({ config: '/nowhere/config.json' }, {});
    expect(error.exitCode).toBe(EXIT.notFound);
    expect(error.message).toContain('/nowhere/config.json');
  });

  test("is not what belongs to the agent, nor what other programs' variables say", () => {
    const environment = { GATEWAY_AGENT_URL: 'x', PORT: 'x', HOST: 'x', LOG_LEVEL: 'x' };
    expect(loadConfig({}, environment)).toEqual(loadConfig({}, {}));
  });

  test('does not keep a command from finding its data folder', () => {
    expect(locateData({ data: 'here' }, { GATEWAY_PORT: 'x' })).toBe('here');
    expect(locateData({}, { GATEWAY_DATA: 'there' })).toBe('there');
    expect(() => locateData({ data: '' }, {})).toThrow("--data is ''");
  });

  test('does not keep a command from reading the limits of the queue', () => {
    const environment = { GATEWAY_PORT: 'x', GATEWAY_MAX_QUEUED: '7', GATEWAY_MAX_QUEUED_MB: '2' };
    expect(readQueueLimits({}, environment)).toEqual({ jobs: 7, bytes: 2_097_152 });
    expect(readQueueLimits({}, {})).toEqual({ jobs: 10_000, bytes: 1024 ** 3 });
    expect(() => readQueueLimits({}, { GATEWAY_MAX_QUEUED: 'x' })).toThrow('GATEWAY_MAX_QUEUED');
  });
});

async function configFile(settings: object): Promise<string> {
  const file = join(await temporaryFolder(), 'config.json');
  await writeFile(file, JSON.stringify(settings));
  return file;
}

function refusal(...args: Parameters<typeof loadConfig>): CommandError {
  try {
    loadConfig(...args);
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
}
