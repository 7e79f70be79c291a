/** The files for Docker Compose and their Caddyfiles, as far as they can be read without Docker. */
import { loadConfig } from '@inference-gateway/coordinator/config/config';
import { SETTINGS } from '@inference-gateway/coordinator/config/settings';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../support/temporary-folder.js';

const FOLDER = new URL('../../packaging/container/', import.meta.url);
const textOf = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly networks?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, object>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly build?: { readonly dockerfile: string; readonly target: string };
  readonly read_only?: boolean;
  readonly command?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>;
  readonly networks?: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly volumes?: Readonly<Record<string, null>>;
}

const composeOf = (name: string): Compose => parse(textOf(name), { merge: true }) as Compose;

const FILES = ['compose.yaml', 'compose.agent.yaml', 'compose.cluster.yaml'];
const cluster = composeOf('compose.cluster.yaml');
const coordinators = Object.entries(cluster.services).filter(
  ([, { image }]) => image === 'gateway-coordinator',
);

const declared = (of: object | undefined): Set<string> => new Set(Object.keys(of ?? {}));

const fill = (value: string): string =>
  value.replaceAll(/\$\{GATEWAY_DOMAIN:\?[^}]*\}/g, 'gateway.example.org');

/** As Compose fills in `${NAME:?message}`. */
function filledIn(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, fill(value)]),
  );
}

describe.each(FILES)('%s', (name) => {
  const compose = composeOf(name);
  const services = Object.entries(compose.services);

  const used = (pick: (service: Service) => readonly string[] | undefined): Set<string> =>
    new Set(services.flatMap(([, service]) => pick(service) ?? []));

  test('declares the secrets, volumes and networks that its services use, and no others', () => {
    expect(used(({ secrets }) => secrets)).toEqual(declared(compose.secrets));
    expect(used(({ networks }) => networks)).toEqual(declared(compose.networks));
    const named = used(({ volumes }) =>
      volumes?.flatMap((one) => (/^[./]/.test(one) ? [] : (one.split(':')[0] ?? []))),
    );
    expect(named).toEqual(declared(compose.volumes));
  });

  test('names services that there are, and files of this folder', () => {
    const names = services.map(([service]) => service);
    for (const [service, { depends_on: needs = [], build, volumes = [] }] of services) {
      const needed = Array.isArray(needs) ? needs : Object.keys(needs);
      expect(names, service).toEqual(expect.arrayContaining(needed));
      if (build !== undefined) {
        expect(textOf('Dockerfile')).toMatch(new RegExp(`^FROM \\w+ AS ${build.target}$`, 'm'));
      }
      for (const mounted of volumes.filter((one) => one.startsWith('./'))) {
        expect(textOf(mounted.split(':')[0] ?? '')).not.toBe('');
      }
    }
  });

  test('sets variables of the coordinator that are settings', () => {
    const known = new Set(Object.values(SETTINGS).map((setting) => `GATEWAY_${setting.name}`));
    for (const [service, { image, environment = {} }] of services) {
      if (image !== 'gateway-coordinator') continue;
      const unknown = Object.keys(environment).filter((variable) => !known.has(variable));
      expect(unknown, service).toEqual([]);
    }
  });
});

describe('the cluster', () => {
  test('has three coordinators, each with a configuration that they accept', async () => {
    expect(coordinators).toHaveLength(3);
    const folder = await temporaryFolder();
    const contents: Readonly<Record<string, string>> = {
      database_url: 'postgres://gateway:secret@postgres/gateway\n',
      files_access_key: '0123456789abcdef\n',
      files_secret_key: 'fedcba9876543210\n',
    };
    for (const [service, { environment = {}, secrets = [] }] of coordinators) {
      const filled = filledIn(environment);
      for (const [variable, value] of Object.entries(filled)) {
        const [, secret] = /^\/run\/secrets\/(\w+)$/.exec(value) ?? [];
        if (secret === undefined) continue;
        expect(secrets, variable).toContain(secret);
        filled[variable] = join(folder, secret);
        writeFileSync(join(folder, secret), contents[secret] ?? '');
      }
      expect(loadConfig({}, filled)).toMatchObject({
        publicUrl: 'https://gateway.example.org',
        trustProxy: 1,
        databaseUrl: contents['database_url']?.trim(),
        filesUrl: 's3://gateway-files?endpoint=http://storage:9000',
        filesAccessKey: contents['files_access_key']?.trim(),
        filesSecretKey: contents['files_secret_key']?.trim(),
        // Others reach it under the name of its service.
        nodeName: service,
        nodeUrl: `wss://${service}:7071`,
      });
    }
  });

  test('has a data folder for each coordinator', () => {
    const folders = coordinators.map(([, { volumes = [] }]) => volumes.join());
    expect(new Set(folders).size).toBe(3);
    for (const folder of folders) expect(folder).toMatch(/^data-\d:\/data$/);
  });

  test('asks each part whether it is ready, and shows only the front to the outside', () => {
    for (const [service, part] of Object.entries(cluster.services)) {
      const { image, healthcheck, ports, networks, read_only: isFixed } = part;
      if (service === 'caddy') continue;
      expect(healthcheck?.test.length, service).toBeGreaterThan(1);
      expect(ports, service).toBeUndefined();
      expect(networks, service).toContain('back');
      if (image !== 'gateway-coordinator') expect(networks, service).toEqual(['back']);
      if (image !== 'postgres:18') expect(isFixed, service).toBe(true);
    }
    for (const [, { healthcheck }] of coordinators) {
      expect(healthcheck?.test.join(' ')).toContain('/readyz');
    }
    expect(cluster.networks?.['back']).toEqual({ internal: true });
    expect(cluster.services['caddy']?.networks).toEqual(['front']);
  });

  test('has a storage with the bucket and the port that the coordinators use', () => {
    const { environment = {}, command = [], secrets = [] } = cluster.services['storage'] ?? {};
    const url = coordinators[0]?.[1].environment?.['GATEWAY_FILES_URL'] ?? '';
    const [, bucket, port] = /^s3:\/\/([\w-]+)\?endpoint=http:\/\/storage:(\d+)$/.exec(url) ?? [];
    expect(environment['VGW_PORT']).toBe(`:${port}`);
    expect(command.join('\n')).toContain(`mkdir -p /data/${bucket}\n`);
    for (const secret of secrets) {
      expect(command.join('\n')).toContain(`$$(cat /run/secrets/${secret})`);
    }
  });

  test('has a front that spreads requests over them and asks whether they are ready', () => {
    const text = textOf('Caddyfile.cluster');
    const upstreams = coordinators.map(([service]) => `${service}:7070`);
    expect(text).toContain(`reverse_proxy ${upstreams.join(' ')} {`);
    expect(text).toMatch(/^\t\thealth_uri \/readyz$/m);
    expect(text).toMatch(/^\t\tlb_policy \w+/m);
    expect(text).toMatch(/^\t\tlb_try_duration \d+s$/m);
    // Neither buffers answers, nor repeats what was sent.
    expect(text).not.toMatch(
      /^\s*(flush_interval|request_buffers|response_buffers|lb_retry_match)/m,
    );
  });

  test('needs secrets that the page says how to make, and that no image takes in', () => {
    const page = readFileSync(new URL('../../docs/operations/scale-out.md', FOLDER), 'utf8');
    for (const { file } of Object.values(cluster.secrets ?? {})) {
      expect(page).toContain(`> ${file.slice(2)}\n`);
    }
    for (const list of ['.dockerignore', '.gitignore']) {
      const text = readFileSync(new URL(`../../${list}`, FOLDER), 'utf8');
      expect(text, list).toMatch(/^packaging\/container\/secrets\/?$/m);
    }
  });
});

test.each(['Caddyfile', 'Caddyfile.cluster'])('the blocks of %s are closed', (name) => {
  const lines = textOf(name)
    .split('\n')
    .filter((line) => !line.trim().startsWith('#'));
  let depth = 0;
  for (const line of lines.filter((one) => one !== '')) {
    if (line.trim() === '}') depth -= 1;
    expect(line.match(/^\t*/)?.[0], line).toHaveLength(depth);
    if (line.endsWith('{')) depth += 1;
  }
  expect(depth).toBe(0);
});
