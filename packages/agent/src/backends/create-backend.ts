/** Which program makes which local server usable, by the names that the configuration uses. */
import { Automatic1111Backend } from './automatic1111.js';
import type { Backend, ServiceConfig } from './backend.js';
import { LlamaServerBackend } from './llama-server.js';
import { OllamaBackend } from './ollama.js';
import { OpenAiBackend } from './openai.js';
import type { AudioConverter } from '../media/ffmpeg.js';
import { WhisperServerBackend } from './whisper-server.js';

export const BACKENDS = [
  'openai',
  'ollama',
  'llama-server',
  'whisper-server',
  'automatic1111',
] as const;
export type BackendName = (typeof BACKENDS)[number];

/** What a backend may use beside its local server. */
export interface BackendTools {
  /** Null where it is not installed. */
  readonly ffmpeg: AudioConverter | null;
}

export const NO_TOOLS: BackendTools = { ffmpeg: null };

/** Throws for a name that is not one of `BACKENDS`; the configuration has refused it by then. */
export function createBackend(service: ServiceConfig, tools: BackendTools = NO_TOOLS): Backend {
  const { backend, id } = service;
  if (isBackend(backend)) return CREATORS[backend](service, tools);
  throw new Error(
    `backend "${backend}" of service ${id} is unknown. Use one of ${BACKENDS.join(', ')}.`,
  );
}

type Creator = (service: ServiceConfig, tools: BackendTools) => Backend;

const CREATORS: Record<BackendName, Creator> = {
  openai: (service, { ffmpeg }) => new OpenAiBackend(service, ffmpeg),
  ollama: (service) => new OllamaBackend(service),
  'llama-server': (service) => new LlamaServerBackend(service),
  'whisper-server': (service, { ffmpeg }) => new WhisperServerBackend(service, ffmpeg),
  automatic1111: (service) => new Automatic1111Backend(service),
};

function isBackend(name: string): name is BackendName {
  return (BACKENDS as readonly string[]).includes(name);
}
