/** Prometheus' text format 0.0.4, read strictly: a line that is none of its kinds is an error. */

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Exposition {
  /** By metric: `counter`, `gauge`, … */
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = String.raw`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"`;
const NUMBER = String.raw`[-+]?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|Inf)|nan`;
const HELP = new RegExp(`^# HELP (${NAME}) .+$`);
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary)$`);
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)\\})? (${NUMBER})$`, 'i');
const SUFFIX = /_(bucket|sum|count)$/;

export function parsePrometheus(text: string): Exposition {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const types = new Map<string, string>();
  const samples = new Map<string, Sample>();
  for (const line of text.split('\n')) {
    if (line === '' || HELP.test(line)) continue;
    const [, typed, type] = TYPE.exec(line) ?? [];
    if (typed !== undefined && type !== undefined) addOnce(types, typed, type);
    else addSample(line, { types, samples });
  }
  return { types, samples: [...samples.values()] };
}

/** The sum over the samples of this name that have these labels; null if there is none. */
export function valueOf(
  { samples }: Exposition,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | null {
  const fits = samples.filter(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  return fits.length === 0 ? null : fits.reduce((sum, { value }) => sum + value, 0);
}

function addSample(
  line: string,
  to: { types: ReadonlyMap<string, string>; samples: Map<string, Sample> },
): void {
  const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Error(`no line of the format: ${line}`);
  if (!to.types.has(name) && !to.types.has(name.replace(SUFFIX, ''))) {
    throw new Error(`a sample before its TYPE: ${line}`);
  }
  const number = value.endsWith('Inf') ? Infinity : Number(value);
  addOnce(to.samples, `${name}{${labels}}`, { name, labels: readLabels(labels), value: number });
}

function readLabels(text: string): Record<string, string> {
  const pairs = text.matchAll(new RegExp(LABEL, 'g'));
  return Object.fromEntries(
    Array.from(pairs, ([pair]) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), pair.slice(at + 2, -1).replaceAll(/\\(["\\])/g, '$1')];
    }),
  );
}

function addOnce<Value>(to: Map<string, Value>, key: string, value: Value): void {
  if (to.has(key)) throw new Error(`twice: ${key}`);
  to.set(key, value);
}
