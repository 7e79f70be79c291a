/** whisper-server, as a kind of local server. */
import { converterOf } from '../../media/built-in-converter.js';
import type { Ask } from '../detection/signs.js';
import type { ServerKind } from '../server-kind.js';
import { WhisperServerBackend } from './backend.js';

export const KIND = {
  name: 'whisper-server',
  soleType: 'stt',
  create: (service, { ffmpeg }) => new WhisperServerBackend(service, converterOf(ffmpeg)),
  fingerprint: {
    server: 'whisper-server',
    type: 'stt',
    path: '',
    matches: isWhisperServer,
  },
  programs: { servers: ['whisper-server'] },
} as const satisfies ServerKind;

/** While it loads, and after a load that failed, the path is 404. */
async function isWhisperServer(ask: Ask): Promise<boolean> {
  return (await ask('/health')).server === 'whisper.cpp';
}
