/** The settings of a chat: their limits, the parameters of a request, and links that set them. */

/** As typed; empty settings are not sent. */
export interface ChatSettings {
  readonly system: string;
  readonly temperature: string;
  readonly topP: string;
  readonly maxTokens: string;
  readonly frequencyPenalty: string;
  readonly presencePenalty: string;
  /** One stop sequence per line. */
  readonly stop: string;
}

export const DEFAULT_SETTINGS: ChatSettings = {
  system: '',
  temperature: '',
  topP: '',
  maxTokens: '',
  frequencyPenalty: '',
  presencePenalty: '',
  stop: '',
};

/** Settings with a name. */
export interface Preset {
  readonly name: string;
  readonly settings: ChatSettings;
}

export const MAX_PRESETS = 50;
export const MAX_PRESET_NAME_CHARACTERS = 64;

/** `parameter`: its name in a request and in a link. The limits are those of the API. */
export const NUMBERS = [
  {
    name: 'temperature',
    parameter: 'temperature',
    label: 'Temperature',
    placeholder: '0.7',
    min: 0,
    max: 2,
    step: 0.1,
  },
  {
    name: 'topP',
    parameter: 'top_p',
    label: 'Top p',
    placeholder: '1',
    min: 0,
    max: 1,
    step: 0.05,
  },
  {
    name: 'maxTokens',
    parameter: 'max_tokens',
    label: 'Max tokens',
    placeholder: 'no limit',
    min: 1,
    max: 10_000_000,
    step: 1,
  },
  {
    name: 'frequencyPenalty',
    parameter: 'frequency_penalty',
    label: 'Frequency penalty',
    placeholder: '0',
    min: -2,
    max: 2,
    step: 0.1,
  },
  {
    name: 'presencePenalty',
    parameter: 'presence_penalty',
    label: 'Presence penalty',
    placeholder: '0',
    min: -2,
    max: 2,
    step: 0.1,
  },
] as const;

/** The parameters of a request. */
export function parametersOf(settings: ChatSettings): Readonly<Record<string, unknown>> {
  const set = NUMBERS.flatMap(({ name, parameter }) => {
    const typed = settings[name].trim();
    return typed === '' || !Number.isFinite(Number(typed)) ? [] : [[parameter, Number(typed)]];
  });
  const stops = settings.stop.split('\n').filter((line) => line !== '');
  return { ...Object.fromEntries(set), ...(stops.length > 0 && { stop: stops }) };
}

export function isChanged(settings: ChatSettings): boolean {
  return Object.values(settings).some((value) => value !== '');
}

// Links: `/playground/chat?model=…&temperature=…&system=…`.

/** Longer addresses do not survive every mail program and proxy. */
const MAX_LINK_CHARACTERS = 6_000;
const MAX_MODEL_CHARACTERS = 256;
/** Of text in a link or a file. */
export const MAX_SYSTEM_CHARACTERS = 100_000;

export interface Linked {
  readonly settings: ChatSettings;
  /** What was left out, and why. */
  readonly problems: readonly string[];
}

/** Null if the address sets nothing. Values that the API would refuse are left out. */
export function settingsOfLink(query: Readonly<Record<string, string>>): Linked | null {
  const problems: string[] = [];
  const values: Partial<Record<keyof ChatSettings, string>> = {};
  for (const { name, parameter, label, min, max, step } of NUMBERS) {
    const typed = query[parameter]?.trim() ?? '';
    if (typed === '') continue;
    const value = Number(typed);
    const isRight = value >= min && value <= max && (step < 1 || Number.isInteger(value));
    if (isRight) values[name] = typed;
    else problems.push(`${label} is "${typed.slice(0, 40)}"; write ${min} to ${max}.`);
  }
  const { system = '', stop = '' } = query;
  for (const [name, text] of Object.entries({ system, stop })) {
    if (text.length > MAX_LINK_CHARACTERS) {
      problems.push(`${name} has more than ${MAX_LINK_CHARACTERS} characters; use a preset.`);
    } else if (text.trim() !== '') values[name as 'system' | 'stop'] = text;
  }
  if (Object.keys(values).length === 0 && problems.length === 0) return null;
  return { settings: { ...DEFAULT_SETTINGS, ...values }, problems };
}

/** The names of parameters that a link to the chat may have, besides `model`. */
export const LINK_PARAMETERS = [...NUMBERS.map(({ parameter }) => parameter), 'system', 'stop'];

/** Null if the address would be too long. */
export function linkOf(origin: string, model: string, settings: ChatSettings): string | null {
  const query = new URLSearchParams();
  if (model !== '' && model.length <= MAX_MODEL_CHARACTERS) query.set('model', model);
  for (const { name, parameter } of NUMBERS) {
    const typed = settings[name].trim();
    if (typed !== '') query.set(parameter, typed);
  }
  if (settings.system.trim() !== '') query.set('system', settings.system);
  if (settings.stop !== '') query.set('stop', settings.stop);
  const link = `${origin}/playground/chat${query.size === 0 ? '' : `?${query}`}`;
  return link.length > MAX_LINK_CHARACTERS ? null : link;
}
