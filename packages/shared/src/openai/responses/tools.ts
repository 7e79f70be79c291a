/**
 * Tools of the Responses API as functions. A custom tool becomes a function of one text, the tools
 * of a namespace become functions with longer names; answers get both back by `ToolNames`.
 */
import * as z from 'zod';
import { ApiError } from '../../errors.js';
import { checkAt, listOf } from '../check.js';
import type { TranslationContext } from '../translation.js';

const functionTool = z.looseObject({
  name: z.string().min(1),
  description: z.string().nullish(),
  parameters: z.looseObject({}).nullish(),
  strict: z.boolean().nullish(),
});
const customTool = z.looseObject({
  name: z.string().min(1),
  description: z.string().nullish(),
  format: z
    .looseObject({ syntax: z.string().nullish(), definition: z.string().nullish() })
    .nullish(),
});
const namespace = z.looseObject({
  name: z.string().min(1),
  description: z.string().nullish(),
  tools: listOf(z.looseObject({ type: z.string() })),
});

export interface ChatTool {
  readonly type: 'function';
  readonly function: Readonly<Record<string, unknown>> & { readonly name: string };
}

/** A tool by the names of this API. */
export interface ToolName {
  readonly name: string;
  readonly namespace: string | null;
  readonly isCustom: boolean;
}

/** The field of a custom tool's function. */
export const CUSTOM_INPUT = 'input';

/** Characters of a function's name: OpenAI's own limit, which some servers check. */
const MAX_NAME_CHARACTERS = 64;

const kept = z.object({
  custom: z.array(z.string()).catch([]),
  namespaces: z.record(z.string(), z.tuple([z.string(), z.string()])).catch({}),
});

/** The functions that stand for tools of other types. */
export class ToolNames {
  readonly #custom = new Set<string>();
  readonly #namespaces = new Map<string, readonly [namespace: string, name: string]>();

  /** The functions of tools in namespaces. */
  readonly #flats = new Map<string, string>();
  /** How many functions have this name, or would have. */
  readonly #counts = new Map<string, number>();

  static from(context: TranslationContext): ToolNames {
    const names = new ToolNames();
    const { custom, namespaces } = kept.parse(context);
    for (const name of custom) names.#custom.add(name);
    for (const [flat, path] of Object.entries(namespaces)) names.#namespaces.set(flat, path);
    return names;
  }

  /** For `TranslationContext`. */
  kept(): Record<string, unknown> {
    return {
      ...(this.#custom.size > 0 && { custom: [...this.#custom] }),
      ...(this.#namespaces.size > 0 && { namespaces: Object.fromEntries(this.#namespaces) }),
    };
  }

  addCustom(name: string): void {
    this.#custom.add(name);
  }

  /** Returns the name of its function, different from every other in `taken`. */
  addToNamespace(space: string, name: string, taken: ReadonlySet<string>): string {
    const whole = flatName(space, name);
    let flat = whole;
    let count = this.#counts.get(whole) ?? 1;
    while (taken.has(flat)) {
      count += 1;
      const suffix = `_${count}`;
      flat = `${whole.slice(0, MAX_NAME_CHARACTERS - suffix.length)}${suffix}`;
    }
    this.#counts.set(whole, count);
    this.#namespaces.set(flat, [space, name]);
    this.#flats.set(JSON.stringify([space, name]), flat);
    return flat;
  }

  /** The function of a tool in a namespace; null: the tool itself. */
  functionOf(space: string | null, name: string): string {
    if (space === null) return name;
    // Else a tool of an earlier turn that is not offered any more.
    return this.#flats.get(JSON.stringify([space, name])) ?? flatName(space, name);
  }

  toolOf(flat: string): ToolName {
    const path = this.#namespaces.get(flat);
    if (path !== undefined) return { name: path[1], namespace: path[0], isCustom: false };
    return { name: flat, namespace: null, isCustom: this.#custom.has(flat) };
  }
}

function flatName(space: string, name: string): string {
  const joined = space.endsWith('__') ? `${space}${name}` : `${space}__${name}`;
  return joined.replaceAll(/[^\w-]/g, '_').slice(0, MAX_NAME_CHARACTERS);
}

interface Typed {
  readonly type: string;
}

interface ReadTools {
  readonly tools: readonly ChatTool[];
  readonly names: ToolNames;
  /** The types of tools that only OpenAI can run. */
  readonly ignored: readonly string[];
}

export function readTools(tools: readonly unknown[]): ReadTools {
  const read: ChatTool[] = [];
  const names = new ToolNames();
  const ignored: string[] = [];
  const taken = new Set<string>();
  const add = (tool: ChatTool): void => {
    read.push(tool);
    taken.add(tool.function.name);
  };
  const listed = (tools as readonly Typed[]).map(
    (tool, index) => [tool, `tools[${index}]`] as const,
  );
  // First: names of namespaces give way to them.
  for (const [tool, at] of listed) {
    if (tool.type === 'function') add(toFunction(checkAt(functionTool, tool, at)));
    else if (tool.type === 'custom') {
      const custom = checkAt(customTool, tool, at);
      names.addCustom(custom.name);
      add(customFunction(custom));
    } else if (tool.type !== 'namespace') ignored.push(tool.type);
  }
  for (const [tool, at] of listed) {
    if (tool.type !== 'namespace') continue;
    const space = checkAt(namespace, tool, at);
    for (const [index, inner] of (space.tools as readonly Typed[]).entries()) {
      if (inner.type !== 'function') {
        ignored.push(inner.type);
        continue;
      }
      const one = checkAt(functionTool, inner, `${at}.tools[${index}]`);
      const name = names.addToNamespace(space.name, one.name, taken);
      add(toFunction({ ...one, name }));
    }
  }
  return { tools: read, names, ignored };
}

function toFunction(tool: z.infer<typeof functionTool>): ChatTool {
  const { name, description, parameters, strict } = tool;
  const told = {
    name,
    ...(description && { description }),
    parameters: parameters ?? { type: 'object', properties: {} },
    ...((strict ?? null) !== null && { strict }),
  };
  return { type: 'function', function: told };
}

/** The grammar of its text is told to the model: no local server enforces it. */
function customFunction({ name, description, format }: z.infer<typeof customTool>): ChatTool {
  const { syntax, definition } = format ?? {};
  const grammar = definition ? ` It must match this ${syntax ?? ''} grammar:\n${definition}` : '';
  const input = { type: 'string', description: `The whole input of the tool.${grammar}` };
  const parameters = {
    type: 'object',
    properties: { [CUSTOM_INPUT]: input },
    required: [CUSTOM_INPUT],
    additionalProperties: false,
  };
  const told = { name, ...(description && { description }), parameters };
  return { type: 'function', function: told };
}

const chosen = z.looseObject({
  type: z.string(),
  name: z.string().nullish(),
  namespace: z.string().nullish(),
});
type Chosen = z.infer<typeof chosen>;
const allowed = z.looseObject({ mode: z.enum(['auto', 'required']), tools: listOf(chosen) });

interface Offered {
  readonly tools: readonly ChatTool[];
  readonly names: ToolNames;
}

interface Choice {
  /** The field `tool_choice` of a chat; null: it is left away. */
  readonly choice: unknown;
  readonly tools: readonly ChatTool[];
}

const MODES = ['auto', 'none', 'required'];

/** Throws an `ApiError` if a tool that the gateway cannot run must be used. */
export function chooseTool(choice: unknown, { tools, names }: Offered): Choice {
  if (choice === null) return { choice, tools };
  if (typeof choice === 'string') {
    if (!MODES.includes(choice)) throw unknownChoice(choice);
    if (choice === 'required' && tools.length === 0) throw cannotRun(choice);
    return { choice, tools };
  }
  const asked = checkAt(chosen, choice, 'tool_choice');
  if (asked.type === 'allowed_tools') {
    const { mode, tools: wanted } = checkAt(allowed, choice, 'tool_choice');
    const functions = new Set(
      (wanted as readonly Chosen[]).filter(isFunction).map((one) => functionOf(one, names)),
    );
    const offered = tools.filter((tool) => functions.has(tool.function.name));
    if (mode === 'required' && offered.length === 0) throw cannotRun(asked.type);
    return { choice: mode, tools: offered };
  }
  if (!isFunction(asked)) throw cannotRun(asked.type);
  const name = functionOf(asked, names);
  if (!tools.some((tool) => tool.function.name === name)) throw notOffered(name);
  return { choice: { type: 'function', function: { name } }, tools };
}

function isFunction({ type }: Chosen): boolean {
  return type === 'function' || type === 'custom';
}

function functionOf({ name, namespace: space }: Chosen, names: ToolNames): string {
  return names.functionOf(space ?? null, name ?? '');
}

/** Characters of a value that are repeated in an error. */
const MAX_SHOWN = 80;

function show(value: string): string {
  return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
}

function unknownChoice(choice: string): ApiError {
  const message = `'tool_choice' is ${show(choice)}: it must be ${MODES.join(', ')}, or an object.`;
  return new ApiError('invalid_value', message, { param: 'tool_choice' });
}

function cannotRun(type: string): ApiError {
  const message =
    `'tool_choice' is ${show(type)}, which demands a tool that the gateway cannot run. It offers ` +
    "tools of type function, custom and namespace; choose one of them, or 'auto'.";
  return new ApiError('unsupported_value', message, { param: 'tool_choice' });
}

function notOffered(name: string): ApiError {
  const message = `'tool_choice' names ${show(name)}, which is not in 'tools'. Add it there.`;
  return new ApiError('invalid_value', message, { param: 'tool_choice' });
}
