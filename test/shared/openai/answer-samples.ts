/** Samples of answers of a chat, whole and cut into the chunks of a stream in any way. */
import {
  array,
  constantFrom,
  dictionary,
  jsonValue,
  nat,
  oneof,
  option,
  record,
  string,
  boolean,
} from 'fast-check';
import type { Arbitrary } from 'fast-check';

export type Fields = Readonly<Record<string, unknown>>;

export const said = string({ minLength: 1, maxLength: 8 });
/** As JSON has it, without -0. */
export const input = dictionary(string({ maxLength: 3 }), jsonValue({ maxDepth: 1 }), {
  maxKeys: 3,
}).map((value) => JSON.parse(JSON.stringify(value)) as Fields);

const finish = constantFrom('stop', 'length', 'tool_calls', 'content_filter');
export const answer = record({
  reasoning: option(string({ maxLength: 20 }), { nil: '' }),
  text: option(string({ maxLength: 30 }), { nil: '' }),
  calls: array(
    record({
      name: said,
      args: oneof(
        { weight: 6, arbitrary: input.map((value) => JSON.stringify(value)) },
        { weight: 2, arbitrary: input.map((value) => ` ${JSON.stringify(value, null, 1)}\n`) },
        { weight: 1, arbitrary: constantFrom('', ' ', 'null', '[1]', '"a"', 'x{}', '{}x') },
      ),
    }),
    { maxLength: 4 },
  ),
  finish,
  thinking: boolean(),
  usage: record({
    prompt_tokens: nat(99),
    completion_tokens: nat(99),
    prompt_tokens_details: record({ cached_tokens: nat(99) }),
  }),
  /** Where texts are cut, and which call has the next piece. */
  cuts: array(nat(7), { minLength: 1, maxLength: 30 }),
});

/** The whole answer. */
export function completionOf({ calls, text, reasoning, finish: reason, usage }: Sample): Fields {
  const tool_calls = calls.map(({ name, args }, i) => ({
    id: `call_${i}`,
    type: 'function',
    function: { name, arguments: args },
  }));
  const message = { role: 'assistant', content: text, reasoning_content: reasoning, tool_calls };
  return { choices: [{ index: 0, message, finish_reason: reason }], usage };
}

export type Sample = typeof answer extends Arbitrary<infer T> ? T : never;

/** Reasoning, then text, then calls, whose pieces alternate. */
export function* chunksOf(sample: Sample): Generator<Fields> {
  let step = 0;
  const cut = (): number => sample.cuts[step++ % sample.cuts.length] ?? 1;
  const delta = (fields: Fields): Fields => ({
    choices: [{ index: 0, delta: fields, finish_reason: null }],
  });
  const piecesOf = (text: string): string[] => {
    const pieces: string[] = [];
    for (let at = 0; at < text.length;) {
      const end = at + cut();
      // Some pieces are empty.
      if (end === at) pieces.push('');
      pieces.push(text.slice(at, Math.max(end, at + 1)));
      at = Math.max(end, at + 1);
    }
    return pieces;
  };
  yield delta({ role: 'assistant', content: '' });
  for (const piece of piecesOf(sample.reasoning)) yield delta({ reasoning_content: piece });
  for (const piece of piecesOf(sample.text)) yield delta({ content: piece });
  const left = sample.calls.map(({ args }) => piecesOf(args));
  for (const [index, { name }] of sample.calls.entries()) {
    yield delta({
      tool_calls: [{ index, id: `call_${index}`, function: { name, arguments: '' } }],
    });
    if (cut() > 3) yield* drain(left, index);
  }
  for (let rest = left.filter((one) => one.length > 0); rest.length > 0;) {
    const pieces = rest[cut() % rest.length] ?? [];
    const index = left.indexOf(pieces);
    yield delta({ tool_calls: [{ index, function: { arguments: pieces.shift() } }] });
    rest = left.filter((one) => one.length > 0);
  }
  yield { choices: [{ index: 0, delta: {}, finish_reason: sample.finish }] };
  yield { choices: [], usage: sample.usage };

  function* drain(all: string[][], index: number): Generator<Fields> {
    const pieces = all[index] ?? [];
    for (const piece of pieces.splice(0)) {
      yield delta({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
}
