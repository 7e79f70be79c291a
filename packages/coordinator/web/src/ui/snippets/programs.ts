/** Programs that chat through the gateway, each with its configuration, as in docs/clients.md. */

export const PROGRAMS = [
  { value: 'codex', label: 'Codex' },
  { value: 'claude-code', label: 'Claude Code' },
  { value: 'opencode', label: 'opencode' },
  { value: 'qwen-code', label: 'qwen-code' },
] as const;

export type Program = (typeof PROGRAMS)[number]['value'];

interface Place {
  /** Including `/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** The key itself, or the variable that has it. */
  readonly key: string;
}

interface Configured {
  /** The file of its settings; null if it is configured by variables of the shell. */
  readonly file: string | null;
  readonly write: (place: Place) => string;
}

const CONFIGURED: Readonly<Record<Program, Configured>> = {
  codex: {
    file: '~/.codex/config.toml',
    write: ({ baseUrl, model }) => `model = ${JSON.stringify(model)}
model_provider = "gateway"

[model_providers.gateway]
name = "Inference Gateway"
base_url = "${baseUrl}"
env_key = "GATEWAY_KEY"
wire_api = "responses"
`,
  },
  'claude-code': {
    file: null,
    write: ({ baseUrl, model, key }) => `export ANTHROPIC_BASE_URL=${baseUrl.replace(/\/v1$/, '')}
export ANTHROPIC_AUTH_TOKEN=${key}
export ANTHROPIC_MODEL=${quoted(model)}
export ANTHROPIC_SMALL_FAST_MODEL=${quoted(model)}
claude
`,
  },
  opencode: {
    file: '~/.config/opencode/opencode.json',
    write: ({ baseUrl, model }) => `{
  "$schema": "https://opencode.ai/config.json",
  "provider": {
    "gateway": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Inference Gateway",
      "options": { "baseURL": "${baseUrl}", "apiKey": "{env:GATEWAY_KEY}" },
      "models": { ${JSON.stringify(model)}: { "name": ${JSON.stringify(model)} } }
    }
  }
}
`,
  },
  'qwen-code': {
    file: null,
    write: ({ baseUrl, model, key }) => `export OPENAI_API_KEY=${key}
export OPENAI_BASE_URL=${baseUrl}
export OPENAI_MODEL=${quoted(model)}
qwen --auth-type openai
`,
  },
};

/** Where it belongs; null: into a shell. */
export function fileOf(program: Program): string | null {
  return CONFIGURED[program].file;
}

export function configurationOf(program: Program, place: Place): string {
  return CONFIGURED[program].write(place);
}

/** For a shell: a model's id may have any character. */
function quoted(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
