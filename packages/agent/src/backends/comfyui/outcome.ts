/**
 * What ComfyUI says of a graph that it refuses and of a job that has ended. Its messages list the
 * owner's files, so only parts of them are passed on.
 */
import { errorDocument } from '../../openai-wire/error-document.js';
import { asObject, asObjects, asText, parseJson } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { withoutPaths } from '../../openai-wire/without-paths.js';
import { LocalFailure } from '../backend.js';
import type { DocumentAnswer } from '../backend.js';

export interface Made {
  readonly kind: 'made';
  /** By the numbers of nodes, what each has to show. */
  readonly outputs: JsonObject;
}

/** `{error: {type, message, details}, node_errors}`. */
export function readRefusal(status: number, text: string): DocumentAnswer {
  const told = asObject(parseJson(text));
  const error = asObject(told?.['error']);
  if (error === null) return errorDocument(status, text);
  const faults = Object.entries(asObject(told?.['node_errors']) ?? {}).flatMap(nodeFaults);
  if (faults.length === 0) return document(500, asText(error['message']) ?? 'It said nothing.');
  // A number out of range is the caller's; anything else, such as a missing file, the owner's.
  const isCallers = faults.every(({ type }) => RANGE_FAULTS.has(type));
  return document(isCallers ? 400 : 500, faults.map(({ message }) => message).join(' '));
}

/** Throws a `LocalFailure` where the owner interrupted it. */
export function readOutcome(entry: JsonObject): Made | DocumentAnswer {
  const { status_str: status, messages } = asObject(entry['status']) ?? {};
  if (status !== 'error') return { kind: 'made', outputs: asObject(entry['outputs']) ?? {} };
  const told = new Map(Array.isArray(messages) ? messages.flatMap(readMessage) : []);
  if (told.has('execution_interrupted')) {
    throw new LocalFailure('LOCAL_ERROR', 'the job was interrupted on its own machine.');
  }
  const { node_id: id, node_type: type, exception_message: said } = told.get(FAILED) ?? {};
  const where = nodeName(asText(id) ?? '?', type);
  return document(500, `${where} failed: ${withoutPaths(asText(said) ?? 'it did not say why')}`);
}

const FAILED = 'execution_error';
const RANGE_FAULTS: ReadonlySet<string> = new Set([
  'value_smaller_than_min',
  'value_bigger_than_max',
]);

interface Fault {
  readonly type: string;
  readonly message: string;
}

/** Not the details, which list the files that there are instead. */
function nodeFaults([id, node]: readonly [string, unknown]): Fault[] {
  const { class_type: type, errors } = asObject(node) ?? {};
  return asObjects(errors).map((error) => {
    const input = asText(asObject(error['extra_info'])?.['input_name']);
    const place = input === null ? '' : ` (${input})`;
    const said = withoutPaths(asText(error['message']) ?? 'not valid');
    return {
      type: asText(error['type']) ?? '',
      message: `${nodeName(id, type)}: ${said}${place}.`,
    };
  });
}

function nodeName(id: string, type: unknown): string {
  return `node ${id} (${asText(type) ?? 'unknown'}) of the workflow`;
}

function readMessage(message: unknown): [string, JsonObject][] {
  if (!Array.isArray(message)) return [];
  const [name, facts] = message as unknown[];
  return typeof name === 'string' ? [[name, asObject(facts) ?? {}]] : [];
}

function document(status: number, message: string): DocumentAnswer {
  return errorDocument(status, JSON.stringify({ error: message }));
}
