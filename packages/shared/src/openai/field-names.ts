/**
 * Names of fields that our checks read, and that requests must not contain in another case: a
 * server in Go would read `Model` although every check has read `model` (see `fold-name.ts`). Both
 * ends refuse them. Names that are not read here pass in any spelling.
 *
 * `test/shared/openai/field-names.test.ts` compares the list with the checks.
 */
import * as z from 'zod';
import { ApiError } from '../errors.js';
import { LIST_ITEMS } from './check.js';
import { foldName } from './fold-name.js';
import { REQUEST_SCHEMAS } from './request-schemas.js';
import { TOKEN_FIELDS } from './tokens.js';
import { webhookSchema } from './webhook.js';

/**
 * Paths below which callers may use any names. An array's item is a step of its own, and names are
 * free only there.
 */
const FREE_PLACES = [
  'chat_template_kwargs',
  'client_metadata',
  'functions[].parameters',
  'guided_json',
  'input[].arguments',
  'json_schema',
  'logit_bias',
  'messages[].content[].input',
  'messages[].function_call.arguments',
  'messages[].tool_calls[].function.arguments',
  'metadata',
  'output_config.format.schema',
  'output_format.schema',
  'response_format.json_schema',
  'response_format.schema',
  'structured_outputs.json',
  'text.format.schema',
  'tools[].function.input_schema',
  'tools[].function.parameters',
  'tools[].input_examples',
  'tools[].input_schema',
  'tools[].parameters',
  'tools[].tools[].parameters',
] as const;

/** Free only in a part whose `type` says that it is a tool's input. */
const TOOL_INPUT = 'messages[].content[].input';
const TOOL_USE = 'tool_use';

/** Guarded names besides the fields of the schemas and the names on the free paths. */
const READ_NAMES = [
  'async webhook type',
  // Text, and options of the answer.
  'instructions logprobs output_compression output_format reasoning reasoning_content user',
  // Of the APIs that are translated, and the session of a chat.
  'background conversation previous_response_id prompt_cache_key user_id',
  'stop_sequences system thinking',
  // Media; names like these are treated as media in any spelling (`media-urls.ts`).
  'audio audio_url file file_data file_url filename image_url images init_image init_images',
  'input_audio input_image input_reference mask path reference_audio reference_image speaker_wav',
  'partial_images src uri url video video_url',
  // Fields that a dialect removes, or from which an adapter builds its server's fields.
  'adapters backend batch bootstrap_host bootstrap_port bootstrap_room cfg_scale character',
  'chat_template chat_template_str custom_logit_processor custom_system_message',
  'denoising_strength download_format draft_model id_slot instruction_template',
  'instruction_template_str kv_transfer_params length_scale logits_processors lora lora_path',
  'loras model_base_name num_draft_tokens preset prompt_embeds prompt_template',
  'return_download_link rid rope_freq_base rope_freq_scale sampler sampler_name',
  'sd_model_checkpoint session_params slot_id steps system_prompt template_vars tokenize ttl',
  'vad_filter',
].flatMap((names) => names.split(' '));

/** All guarded names by their folded form, which is the name itself in lower case. */
export const GUARDED_NAMES: ReadonlySet<string> = new Set([
  ...READ_NAMES,
  ...TOKEN_FIELDS,
  ...FREE_PLACES.flatMap((place) => place.match(/\w+/g) ?? []),
  ...[...Object.values(REQUEST_SCHEMAS), webhookSchema].flatMap((schema) => [...namesOf(schema)]),
]);

export interface MisspelledName {
  /** `messages[0].Content`. */
  readonly path: string;
  readonly right: string;
}

/** The first name in a body that folds to a guarded one without being equal; null if none. */
export function findMisspelledName(body: unknown): MisspelledName | null {
  const stack: Visit[] = [{ value: body, key: '', place: FREE, parent: null }];
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    const { value } = visit;
    if (Array.isArray(value)) pushItems(stack, visit, value);
    else if (isObject(value)) {
      const found = lookInto(value, visit, stack);
      if (found !== null) return found;
    }
  }
  return null;
}

function lookInto(value: object, visit: Visit, stack: Visit[]): MisspelledName | null {
  for (const [key, child] of Object.entries(value)) {
    const right = guardedBy(key);
    if (right !== null) return { path: pathOf({ ...visit, key, parent: visit }), right };
    if (!isObject(child)) continue;
    const place = visit.place?.below.get(key) ?? null;
    if (place !== null && place.isFree && mayBeFree(place, value)) continue;
    stack.push({ value: child, key, place, parent: visit });
  }
  return null;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Throws `invalid_value` for such a name. */
export function refuseMisspelledNames(body: unknown): void {
  const found = findMisspelledName(body);
  if (found !== null) throw misspelled(found);
}

/**
 * The same for the fields of a form, of which a server may read `model[]` or `model[0]` as `model`.
 * An array may be written with or without `[]`, but not both.
 */
export function findMisspelledField(names: Iterable<string>): MisspelledName | null {
  const seen = new Map<string, string>();
  for (const name of names) {
    const bare = name.replace(/\[.*$/s, '');
    const folded = foldName(bare);
    const isGuarded = GUARDED_NAMES.has(folded);
    if (isGuarded && name !== folded && name !== `${folded}[]`)
      return { path: name, right: folded };
    if (isGuarded && seen.has(folded)) return { path: name, right: seen.get(folded) ?? folded };
    seen.set(folded, name);
  }
  return null;
}

export function misspelled({ path, right }: MisspelledName): ApiError {
  return new ApiError('invalid_value', messageFor({ path, right }), { param: path });
}

export function messageFor({ path, right }: MisspelledName): string {
  return (
    `'${path}' would be read as '${right}' by some model servers, and by others not. ` +
    `Write '${right}', once.`
  );
}

/** A position in the body. */
interface Place {
  readonly path: string;
  readonly isFree: boolean;
  readonly below: Map<string, Place>;
}

interface Visit {
  readonly value: unknown;
  readonly key: string | number;
  /** Null if no free path can follow. */
  readonly place: Place | null;
  readonly parent: Visit | null;
}

const ITEM = '[]';
const FREE = placesOf(FREE_PLACES);

function placesOf(paths: readonly string[]): Place {
  const root: Place = { path: '', isFree: false, below: new Map() };
  for (const path of paths) {
    let at = root;
    for (const step of path.match(/\w+|\[\]/g) ?? []) {
      const whole = step === ITEM ? at.path + step : `${at.path}.${step}`.replace(/^\./, '');
      const next = at.below.get(step) ?? {
        path: whole,
        isFree: paths.includes(whole),
        below: new Map<string, Place>(),
      };
      at.below.set(step, next);
      at = next;
    }
  }
  return root;
}

function mayBeFree({ path }: Place, holder: object): boolean {
  if (path !== TOOL_INPUT) return true;
  return 'type' in holder && typeof holder.type === 'string' && holder.type.endsWith(TOOL_USE);
}

/** Names of only these letters fold to themselves. */
const PLAIN = /^[a-z0-9_.-]*$/;

function guardedBy(key: string): string | null {
  if (PLAIN.test(key)) return null;
  const folded = foldName(key);
  return folded !== key && GUARDED_NAMES.has(folded) ? folded : null;
}

/** In reverse, so that the first is visited first. */
function pushItems(stack: Visit[], parent: Visit, items: readonly unknown[]): void {
  const place = parent.place?.below.get(ITEM) ?? null;
  for (let key = items.length - 1; key >= 0; key--) {
    const value = items[key];
    if (isObject(value)) stack.push({ value, key, place, parent });
  }
}

/** Characters of a step of a path that are shown in the error. */
const MAX_STEP_CHARACTERS = 80;
/** The last steps of a path that are shown in the error. */
const MAX_STEPS = 64;

function pathOf(visit: Visit): string {
  const steps: string[] = [];
  for (let at: Visit | null = visit; at !== null && steps.length < MAX_STEPS; at = at.parent) {
    if (typeof at.key === 'number') steps.push(`[${at.key}]`);
    else if (at.parent !== null) steps.push(`.${at.key.slice(0, MAX_STEP_CHARACTERS)}`);
  }
  return steps.toReversed().join('').replace(/^\./, '');
}

/** All names in a schema, at any depth. */
function namesOf(schema: z.core.$ZodType, names = new Set<string>()): ReadonlySet<string> {
  const item = LIST_ITEMS.get(schema);
  if (item !== undefined) namesOf(item, names);
  if (schema instanceof z.ZodObject) {
    for (const [name, field] of Object.entries<z.core.$ZodType>(schema.shape)) {
      names.add(name);
      namesOf(field, names);
    }
  } else if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    namesOf(schema.unwrap(), names);
  } else if (schema instanceof z.ZodUnion) {
    for (const option of schema.options) namesOf(option, names);
  } else if (schema instanceof z.ZodPipe) {
    namesOf(schema.in, names);
    namesOf(schema.out, names);
  } else if (schema instanceof z.ZodArray) namesOf(schema.element, names);
  return names;
}
