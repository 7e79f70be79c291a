/**
 * The dashboard and the alerts of `docs/monitoring`, against the metrics of a real gateway that has
 * served calls and jobs. `promtool test rules` tests that the alerts fire.
 */
import { Metrics } from '@inference-gateway/coordinator/metrics/metrics';
import { readFileSync } from 'node:fs';
import { ERRORS } from '@inference-gateway/shared/errors';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ended, submitted } from '../api/job-calls.js';
import { speak } from '../api/media-calls.js';
import { openStream } from '../api/open-stream.js';
import { post, chat } from '../api/requests.js';
import { reply } from '../support/fake-behaviours.js';
import { tableRows } from '../support/markdown-table.js';
import { parsePrometheus } from '../support/prometheus-text.js';
import type { Exposition } from '../support/prometheus-text.js';
import { openServedGateway } from '../support/served-gateway.js';
import { startStudio } from '../support/studio.js';
import { until } from '../support/until.js';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: {
    readonly h: number;
    readonly w: number;
    readonly x: number;
    readonly y: number;
  };
  readonly datasource?: { readonly uid: string };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly {
    readonly datasource: { readonly uid: string };
    readonly expr: string;
    readonly legendFormat: string;
  }[];
}

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string; definition?: string }[] };
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly panels: readonly Panel[];
}

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<'summary' | 'description' | 'runbook', string>>;
}

interface RuleTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly object[];
    }[];
  }[];
}

const textOf = (path: string): string =>
  readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');
const page = textOf('operations/monitoring.md');
const dashboard = JSON.parse(textOf('monitoring/grafana-dashboard.json')) as Dashboard;
const { groups } = parse(textOf('monitoring/alerts.yml')) as {
  groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const targets = panels.flatMap((panel) => panel.targets ?? []);

const TOKEN = 'scrape-me-0123456789';

/** Prometheus adds them to each sample. */
const ADDED = ['job', 'instance'];
/** Metrics that Prometheus itself has of each target. */
const OF_PROMETHEUS = ['up'];

interface Selector {
  readonly name: string;
  readonly matchers: readonly { label: string; operator: string; value: string }[];
}

const SELECTOR = /\b((?:gateway|gen_ai|process|nodejs)_\w+|up|[a-z_]+(?::\w+)+)\b(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(=~|!=|!~|=)\s*"((?:[^"\\]|\\.)*)"/g;
const GROUPING = /\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g;

/** Names of labels may look like those of metrics, so they are removed before. */
function selectorsOf(expr: string): Selector[] {
  return [...expr.replaceAll(GROUPING, '').matchAll(SELECTOR)].map(([, name = '', inner = '']) => ({
    name,
    matchers: [...inner.matchAll(MATCHER)]
      .map(([, label = '', operator = '', value = '']) => ({ label, operator, value }))
      .filter(({ label }) => !ADDED.includes(label)),
  }));
}

/** Labels by which an expression groups, or which a legend or an annotation shows. */
function labelsOf(expr: string, shown = ''): string[] {
  const grouped = [...expr.matchAll(GROUPING)].flatMap(([, list = '']) => list.split(','));
  const named = [...shown.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, one]) => one);
  return [...grouped, ...named].flatMap((label) => label?.trim() ?? []).filter((one) => one !== '');
}

function fits(found: Exposition, { name, matchers }: Selector): boolean {
  if (recorded.has(name) || OF_PROMETHEUS.includes(name)) return true;
  return found.samples.some(
    (sample) =>
      sample.name === name &&
      matchers.every(({ label, operator, value }) => {
        const is = sample.labels[label];
        if (is === undefined) return false;
        return operator === '=' ? is === value : new RegExp(`^(?:${value})$`).test(is);
      }),
  );
}

/** The labels of which no sample of the expression's metrics has one. */
function unknownLabels(found: Exposition, expr: string, shown = ''): string[] {
  const names = selectorsOf(expr).map(({ name }) => name);
  if (names.some((name) => recorded.has(name))) return [];
  const samples = found.samples.filter(({ name }) => names.includes(name));
  const known = new Set([...ADDED, ...samples.flatMap(({ labels }) => Object.keys(labels))]);
  return labelsOf(expr, shown).filter((label) => !known.has(label));
}

const isOurs = (name: string): boolean => /^gateway_(node|relayed)_/.test(name);

/** Those that only coordinators on PostgreSQL have. */
async function ofSeveralCoordinators(): Promise<Exposition> {
  const links = new Map([['gateway-2', true]]);
  const metrics = new Metrics({
    providers: () => [],
    callsInFlight: () => 0,
    state: () => Promise.resolve(null),
    version: '0.1.0',
    node: { name: 'gateway-1', linked: () => links, relayed: () => ({ in: 1, out: 1 }) },
  });
  const { types, samples } = parsePrometheus(await metrics.text());
  return {
    types: new Map([...types].filter(([name]) => isOurs(name))),
    samples: samples.filter(({ name }) => isOurs(name)),
  };
}

let found: Exposition;

/** A scrape after calls and jobs of each kind that the dashboard distinguishes. */
beforeAll(async () => {
  const { gateway, fake, stop } = await openServedGateway({ metricsToken: TOKEN });
  const studio = await startStudio(gateway, { name: 'studio', types: ['tts'] });
  try {
    await (await openStream(gateway)).all();
    expect((await (await speak(gateway)).arrayBuffer()).byteLength).toBeGreaterThan(1_000);
    const { id } = await submitted(gateway);
    expect((await ended(gateway, id)).status).toBe('PROCESSED');
    fake.behave(reply(500, { error: { message: 'out of memory' } }));
    expect((await post(gateway, chat())).status).toBe(502);
    found = await until(async () => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const response = await fetch(`${gateway.address}/metrics`, { headers });
      const now = parsePrometheus(await response.text());
      // The first after a garbage collection, the other once the sound has been measured.
      const late = ['nodejs_gc_duration_seconds_sum', 'gateway_audio_seconds_total'];
      return late.every((one) => now.samples.some(({ name }) => name === one)) ? now : null;
    });
    const nodes = await ofSeveralCoordinators();
    found = {
      types: new Map([...found.types, ...nodes.types]),
      samples: [...found.samples, ...nodes.samples],
    };
  } finally {
    await stop();
    await studio.fake.close();
  }
});

describe('the dashboard', () => {
  test('names metrics, labels and values that there are', () => {
    const exprs = [...targets, ...dashboard.annotations.list].map(({ expr }) => expr);
    expect(exprs.length).toBeGreaterThan(50);
    expect(exprs.filter((expr) => selectorsOf(expr).length === 0)).toEqual([]);
    expect(exprs.flatMap(selectorsOf).filter((selector) => !fits(found, selector))).toEqual([]);
    const unknown = targets.flatMap((one) => unknownLabels(found, one.expr, one.legendFormat));
    expect(unknown).toEqual([]);
  });

  test('has panels with an id, a title, a description, a unit and the chosen data source', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const panel of panels) {
      expect(panel.title).not.toBe('');
      expect(panel.description, panel.title).toMatch(/\.$/);
      expect(panel.fieldConfig?.defaults.unit, panel.title).toBeTruthy();
      expect(panel.targets?.length, panel.title).toBeGreaterThan(0);
      for (const { datasource } of [panel, ...(panel.targets ?? [])]) {
        expect(datasource?.uid, panel.title).toBe('${datasource}');
      }
    }
    const titles = panels.map(({ title }) => title);
    expect(titles.filter((title) => title.length > 70)).toEqual([]);
  });

  test('fills lines of 24 columns, in which no two panels overlap', () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    const height = Math.max(...dashboard.panels.map(({ gridPos: { y, h } }) => y + h));
    expect(cells.length).toBe(24 * height);
  });

  test('uses the variables that it defines, and no others', () => {
    const defined = dashboard.templating.list.map(({ name }) => name);
    const used = JSON.stringify(dashboard.panels).matchAll(/\$\{?(\w+)/g);
    const names = new Set(Array.from(used, ([, name = '']) => name));
    names.delete('__rate_interval');
    expect([...names].toSorted()).toEqual(defined.toSorted());
    const queries = dashboard.templating.list.flatMap(({ definition }) => definition ?? []);
    expect(queries.flatMap(selectorsOf).map(({ name }) => name)).toEqual([
      'gateway_build_info',
      'gateway_build_info',
    ]);
  });
});

describe('the alerts', () => {
  test('name metrics, labels and values that there are', () => {
    const selectors = rules.flatMap(({ expr }) => selectorsOf(expr));
    expect(rules.filter(({ expr }) => selectorsOf(expr).length === 0)).toEqual([]);
    expect(selectors.filter((selector) => !fits(found, selector))).toEqual([]);
    const unknown = rules.flatMap(({ expr, annotations }) =>
      unknownLabels(found, expr, Object.values(annotations ?? {}).join(' ')),
    );
    expect(unknown).toEqual([]);
  });

  test('count every error of a provider or the gateway, and none of a caller', () => {
    const expr = rules.find(({ record }) => record !== undefined)?.expr ?? '';
    const code = selectorsOf(expr)[0]?.matchers.find(({ label }) => label === 'code');
    const counted = new RegExp(`^(?:${code?.value})$`);
    const faults = Object.entries(ERRORS).filter(([, { status }]) => status >= 500);
    // An administrator causes the first two; the third is of log-ins, which are not counted here.
    const expected = faults
      .map(([name]) => name)
      .filter((name) => !['shutting_down', 'async_disabled', 'log_in_unavailable'].includes(name));
    expect(Object.keys(ERRORS).filter((name) => counted.test(name))).toEqual(expected);
    const inPanels = targets.flatMap(({ expr: one }) =>
      selectorsOf(one).flatMap(({ matchers }) => matchers.filter(({ label }) => label === 'code')),
    );
    expect(inPanels.length).toBeGreaterThan(0);
    expect(new Set(inPanels.map(({ value }) => value))).toEqual(new Set([code?.value]));
  });

  test('have a severity, texts, and a section on the page about monitoring', () => {
    for (const { alert = '', labels, annotations } of alerts) {
      expect(['critical', 'warning', 'info'], alert).toContain(labels.severity);
      expect(annotations.summary, alert).toMatch(/\.$/);
      expect(annotations.description, alert).toMatch(/\.$/);
      expect(annotations.runbook).toBe(`docs/operations/monitoring.md#${alert.toLowerCase()}`);
      expect(page).toContain(`\n### ${alert}\n\n_${labels.severity}_ `);
    }
    const sections = [...page.matchAll(/^### (Gateway\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(alerts.map(({ alert }) => alert));
  });

  test('have a unit test in which they fire, and one in which they do not', () => {
    const cases = ['alerts-test.yml', 'alerts-backup-test.yml']
      .map((file) => parse(textOf(`monitoring/${file}`)) as RuleTests)
      .flatMap(({ tests }) => tests.flatMap((one) => one.alert_rule_test));
    const named = (fires: boolean) =>
      new Set(
        cases.filter((one) => one.exp_alerts.length > 0 === fires).map((one) => one.alertname),
      );
    const all = new Set(alerts.map(({ alert }) => alert));
    expect(named(true)).toEqual(all);
    expect(named(false)).toEqual(all);
  });
});

test('the page about monitoring has every metric of the gateway, with its own labels', () => {
  const rows = tableRows(page, 'Metric');
  const documented = rows.flatMap(([names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  );
  const own = [...found.types.keys()].filter((name) => /^(gateway|gen_ai)_/.test(name));
  expect(documented.toSorted()).toEqual(own.toSorted());
  for (const [names = '', labels = ''] of rows) {
    const listed = [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
    const samples = found.samples.filter(
      ({ name }) =>
        listed.includes(name.replace(/_(bucket|sum|count)$/, '')) || listed.includes(name),
    );
    const has = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
    has.delete('le');
    // Named in the text: on PostgreSQL each metric has it.
    has.delete('node');
    const plain = [...has].filter(
      (label) => !label.startsWith('gen_ai_') && label !== 'error_type',
    );
    expect(
      plain.filter((label) => !labels.includes(`\`${label}\``)),
      names,
    ).toEqual([]);
  }
});
