/** Which answer belongs to which endpoint. */
import { assertNever } from '@inference-gateway/shared/assert';
import { answerChat } from './chat.js';
import type { Answer, Call } from './answer.js';
import { DemoFailure } from './answer.js';
import { answerMusic, answerSpeech, answerTranscription, answerVoices } from './audio.js';
import { answerImages } from './images.js';
import { advertised } from '../models.js';

/** Throws a `DemoFailure` where the machine fails, or cannot do such a thing. */
export function answerCall(call: Call): Answer {
  switch (call.endpoint) {
    case 'chat':
    case 'completions':
      return answerChat(call);
    case 'images':
    case 'edits':
      return answerImages(call);
    case 'speech':
      return answerSpeech(call);
    case 'music':
      return answerMusic(call);
    case 'transcriptions':
      return answerTranscription(call);
    case 'voices':
      return answerVoices(advertised('kokoro-82m').voices ?? []);
    case 'videos':
    case 'voice':
      throw new DemoFailure('LOCAL_ERROR', `the demo has no answer for ${call.endpoint}`);
    default:
      return assertNever(call.endpoint);
  }
}
