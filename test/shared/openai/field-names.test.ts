import {
  findMisspelledField,
  findMisspelledName,
} from '@inference-gateway/shared/openai/field-names';
import { GUARDED_NAMES } from '@inference-gateway/shared/openai/field-names';
import { TOKEN_FIELDS } from '@inference-gateway/shared/openai/tokens';
import { foldName } from '@inference-gateway/shared/openai/fold-name';
import {
  array,
  assert,
  constantFrom,
  jsonValue,
  letrec,
  oneof,
  property,
  string,
  tuple,
} from 'fast-check';
import { readFile } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const LONG_S = '\u017f';
const KELVIN = '\u212a';

test('names fold as Unicode’s simple case folding has it, for every character there is', () => {
  for (const letter of 'abcdefghijklmnopqrstuvwxyz_0') {
    const same = new RegExp(`^${letter}$`, 'iu');
    for (let code = 0; code <= 0x1_ff_ff; code++) {
      if (code >= 0xd8_00 && code <= 0xdf_ff) continue;
      const character = String.fromCodePoint(code);
      // Asserts only on differences: 3.6 million assertions take a minute.
      if ((foldName(character) === letter) === same.test(character)) continue;
      expect.fail(`U+${code.toString(16)} and ${letter}`);
    }
  }
}, 30_000);

test.each<[string, string, unknown]>([
  ['Model', 'model', { model: 'shared:1b', Model: 'private:70b' }],
  ['MAX_TOKENS', 'max_tokens', { max_tokens: 1, MAX_TOKENS: 9 }],
  ['Messages', 'messages', { Messages: [] }],
  [`me${LONG_S}sages`, 'messages', { [`me${LONG_S}sages`]: [] }],
  [`max_to${KELVIN}ens`, 'max_tokens', { [`max_to${KELVIN}ens`]: 9 }],
  ['messages[1].Content', 'content', { messages: [{ role: 'user' }, { Content: 'x' }] }],
  [
    'messages[0].content[0].Image_URL',
    'image_url',
    { messages: [{ content: [{ Image_URL: { url: 'data:,' } }] }] },
  ],
  ['stream_options.Include_Usage', 'include_usage', { stream_options: { Include_Usage: true } }],
  ['Metadata', 'metadata', { Metadata: { Model: 'x' } }],
  ['tools[0].function.Parameters', 'parameters', { tools: [{ function: { Parameters: {} } }] }],
  ['Webhook', 'webhook', { Webhook: { url: 'https://example.org' } }],
  ['x.y[0][0].Model', 'model', { x: { y: [[{ Model: 1 }]] } }],
  ['__proto__.Model', 'model', JSON.parse('{"__proto__": {"Model": 1}}')],
  // Free names are allowed only in their own place.
  ['messages[0].metadata.Content', 'content', { messages: [{ metadata: { Content: 1 } }] }],
  ['arguments.Content', 'content', { arguments: { Content: 1 } }],
  [
    'messages[0].content[0].input.Model',
    'model',
    { messages: [{ content: [{ type: 'text', input: { Model: 1 } }] }] },
  ],
  [
    'messages[0].content[0][0].input.Model',
    'model',
    { messages: [{ content: [[{ type: 'tool_use', input: { Model: 1 } }]] }] },
  ],
])('%s is told to be written %s', (path, right, body) => {
  expect(findMisspelledName(body)).toEqual({ path, right });
});

test.each([
  ['no object', null],
  ['a list', [1, 'Model']],
  ['unknown names', { Temp: 1, myField: { X: [] }, topK: 3, 'Model-Name': 1, ' Model': 2 }],
  ['letters that only look alike', { 'm\u043edel': 1, '\u0131nput': 1, 'mode\u006c\u0301': 1 }],
  ['a tool’s schema', { tools: [{ function: { parameters: { properties: { Model: {} } } } }] }],
  ['an Anthropic tool', { tools: [{ input_schema: { properties: { Content: {} } } }] }],
  ['a legacy function', { functions: [{ parameters: { properties: { URL: {} } } }] }],
  [
    'what a tool was called with',
    { messages: [{ tool_calls: [{ function: { arguments: { Path: '/x' } } }] }] },
  ],
  ['a tool’s input', { messages: [{ content: [{ type: 'tool_use', input: { URL: 1 } }] }] }],
  ['a JSON schema', { response_format: { json_schema: { schema: { Model: 1 } } } }],
  ['a schema of text', { text: { format: { schema: { Model: 1 } } } }],
  ['a schema of the Messages API', { output_config: { format: { schema: { Model: 1 } } } }],
  ['its older form', { output_format: { schema: { Model: 1 } } }],
  ['examples of a tool’s input', { tools: [{ input_examples: [{ URL: 'x' }] }] }],
  ['a guide', { guided_json: { Model: 1 } }],
  ['metadata', { metadata: { Model: 'x' }, client_metadata: { User: 'x' } }],
  ['biases', { logit_bias: { Model: 1 } }],
  ['what a template is given', { chat_template_kwargs: { Tools: 1 } }],
])('%s may hold any name', (_what, body) => {
  expect(findMisspelledName(body)).toBeNull();
});

test('a body nested without end costs no stack, and its path is short', () => {
  let body: unknown = { Model: 1 };
  for (let depth = 0; depth < 100_000; depth++) body = { ['x'.repeat(depth % 200)]: body };
  expect(findMisspelledName(body)?.path.length).toBeLessThan(64 * 81);
});

describe('the fields of a form', () => {
  test.each([
    [['model', 'file', 'My_Field'], null],
    [['timestamp_granularities[]', 'model'], null],
    [['Model'], { path: 'Model', right: 'model' }],
    [['MODEL[]'], { path: 'MODEL[]', right: 'model' }],
    [['model[0]'], { path: 'model[0]', right: 'model' }],
    [['model', 'model[]'], { path: 'model[]', right: 'model' }],
    [['model[][]'], { path: 'model[][]', right: 'model' }],
    [[`pre${LONG_S}et`], { path: `pre${LONG_S}et`, right: 'preset' }],
  ])('%j', (names, found) => {
    expect(findMisspelledField(names)).toEqual(found);
  });
});

describe('a server in Go reads no other value than the checks have read', () => {
  const guarded = [...GUARDED_NAMES];
  const mangled = constantFrom(...guarded).chain((name) =>
    array(constantFrom('as it is', 'upper', 'odd'), { minLength: 1 }).map((ways) =>
      Array.from(name, (letter, i) => {
        const way = ways[i % ways.length];
        if (way === 'as it is') return letter;
        if (way === 'odd' && letter === 's') return LONG_S;
        return way === 'odd' && letter === 'k' ? KELVIN : letter.toUpperCase();
      }).join(''),
    ),
  );
  const key = oneof(
    { weight: 4, arbitrary: constantFrom(...guarded) },
    { weight: 1, arbitrary: mangled },
    { weight: 2, arbitrary: string({ unit: 'binary', maxLength: 6 }) },
  );
  const { body } = letrec<{ body: object; value: unknown }>((tie) => ({
    value: oneof(
      { depthSize: 'small', withCrossShrink: true },
      jsonValue({ maxDepth: 0 }),
      tie('body'),
      array(tie('value'), { maxLength: 3 }),
    ),
    body: array(tuple(key, tie('value')), { maxLength: 5 }).map(
      (entries): object => JSON.parse(textOf(entries)) as object,
    ),
  }));

  test('in any body that is let through', () => {
    let passed = 0;
    assert(
      property(body, (sent) => {
        if (findMisspelledName(sent) !== null) return;
        passed += 1;
        expect(asGoReads(JSON.stringify(sent))).toEqual(asGoReads(JSON.stringify(sent), isExact));
      }),
      { numRuns: 2_000 },
    );
    expect(passed).toBeGreaterThan(200);
  });
});

/** Keeps the order of names, and repeated names. */
function textOf(entries: readonly (readonly [string, unknown])[]): string {
  const members = entries.map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  return `{${members.join(',')}}`;
}

const isExact = (name: string, field: string): boolean => name === field;
const isFolded = (name: string, field: string): boolean => {
  return new RegExp(`^${field}$`, 'iu').test(name);
};

/**
 * How a Go program reads JSON: it takes the fields that it knows, here all guarded ones, by any
 * name that folds to them, and the last of each. A field that it reads as a map keeps its names.
 */
function asGoReads(text: string, matches = isFolded): unknown {
  return readAt(JSON.parse(text), '', matches);
}

const MAPS = [
  /^(client_)?metadata$|^logit_bias$|^chat_template_kwargs$|^guided_json$|^json_schema$/,
  /^(tools|functions)\[\](\.function)?\.(parameters|input_schema)$/,
  /^messages\[\]\.(tool_calls\[\]\.function|function_call)\.arguments$|^input\[\]\.arguments$/,
  /^tools\[\]\.input_examples$|^output_(config\.)?format\.schema$/,
  /^response_format\.(json_)?schema$|^text\.format\.schema$|^structured_outputs\.json$/,
];

function readAt(value: unknown, path: string, matches: typeof isFolded): unknown {
  if (MAPS.some((map) => map.test(path))) return null;
  if (Array.isArray(value)) return value.map((item) => readAt(item, `${path}[]`, matches));
  if (typeof value !== 'object' || value === null) return value;
  const isToolUse = 'type' in value && String(value.type).endsWith('tool_use');
  const read = new Map<string, unknown>();
  for (const [name, child] of Object.entries(value)) {
    for (const field of GUARDED_NAMES) {
      if (name.length !== field.length || !matches(name, field)) continue;
      const at = path === '' ? field : `${path}.${field}`;
      const isInput = at === 'messages[].content[].input' && isToolUse;
      read.set(field, isInput ? null : readAt(child, at, matches));
    }
  }
  return Object.fromEntries(read);
}

/** The names in a destructuring, without camel case names, which are never on the wire. */
function namesIn(pattern: string): string[] {
  const names = pattern.split(',').map((one) => one.trim().replace(/\s*[:=].*$/s, ''));
  return names.filter((name) => /^[a-z\d_]+$/.test(name));
}

describe('every name that a check reads is guarded', () => {
  const sources = ['agent', 'coordinator', 'shared'].flatMap((name) => {
    const files = readdirSync(`packages/${name}/src`, { recursive: true, encoding: 'utf8' });
    return files
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `packages/${name}/src/${file}`);
  });
  /** Modules that read a request's fields; in all others, a body is an answer. */
  const OF_REQUESTS = new RegExp(
    [
      String.raw`token-cap|openai/tokens|http/(?:answers|inference|jobs)/|backends/`,
      String.raw`src/(?:run|relay|jobs)/`,
      String.raw`openai/(?:kinds|requests|request-schemas|media-urls)|request-body`,
      String.raw`-(?:request|query)\.ts$`,
    ].join('|'),
  );
  /** These modules handle a request's body as bytes. */
  const WRITERS = /backends\/(forward|multipart)\.ts$/;
  const READS = [
    /\b(?:body|fields|request|checked|given|options)(?:\?\.)?\['(\w+)'\]/g,
    /'(\w+)' in (?:body|fields|request)\b/g,
  ];
  const TAKEN_APART = new RegExp(
    String.raw`(?:const|shape\()\s*\(?\{([^{}]*)\}\s*` +
      String.raw`(?:\)|= (?:(?:call|request)\.body|checked|body|fields|request|kept|rest)\b)`,
    'g',
  );

  test('by its name in a module that reads requests', async () => {
    const paths = sources.filter((path) => OF_REQUESTS.test(path) && !WRITERS.test(path));
    expect(paths.length).toBeGreaterThan(60);
    const read = new Set<string>();
    for (const path of paths) {
      const source = await readFile(path, 'utf8');
      for (const pattern of READS) {
        for (const [, name = ''] of source.matchAll(pattern)) read.add(name);
      }
      for (const [, inside = ''] of source.matchAll(TAKEN_APART)) {
        for (const name of namesIn(inside)) read.add(name);
      }
    }
    expect(read).toContain('voice');
    expect(read).toContain('timestamp_granularities');
    expect(read).toContain('stream_options');
    expect([...read].filter((name) => !GUARDED_NAMES.has(name))).toEqual([]);
  });

  test('by the caps of a share', () => {
    expect(TOKEN_FIELDS.filter((name) => !GUARDED_NAMES.has(name))).toEqual([]);
  });

  test('by what dialects and backends drop', async () => {
    const dropped: string[] = [];
    for (const path of sources.filter((one) => one.includes('/backends/'))) {
      const source = await readFile(path, 'utf8');
      for (const [, list = ''] of source.matchAll(/(?:dropFields:|DROPS = )\s*\[([^\]]*)\]/g)) {
        dropped.push(...[...list.matchAll(/'(\w+)'/g)].map(([, name = '']) => name));
      }
    }
    expect(dropped).toContain('id_slot');
    expect(dropped).toContain('kv_transfer_params');
    expect(dropped.filter((name) => !GUARDED_NAMES.has(name))).toEqual([]);
  });

  test('and is written as it folds', () => {
    expect([...GUARDED_NAMES].filter((name) => !/^[a-z\d_]+$/.test(name))).toEqual([]);
  });
});
