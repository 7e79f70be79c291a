/** What a job of the past has made: a chat's answer, or files. */
import { drawLandscape } from '../answers/landscape.js';
import { encodePng } from '../answers/png.js';
import { chords, hum } from '../answers/sound.js';
import { seedOf } from '../random.js';
import { CHATS } from '../topics.js';
import type { PastJob } from './past-job.js';

const SIDE = 512;
const VOICE_HERTZ = 247;
const MUSIC_S = 10;
const WAV_BYTES_A_SECOND = 32_000;

interface Made {
  /** JSON of a text job; null where there are files. */
  readonly text: Uint8Array | null;
  readonly files: readonly {
    readonly bytes: Uint8Array;
    readonly contentType: string;
    readonly seconds: number | null;
  }[];
}

export async function makeResult({ endpoint, model, body }: PastJob): Promise<Made> {
  const asked = JSON.stringify(body);
  switch (endpoint) {
    case 'images': {
      // The seed that the machines give the prompt, so that a retry paints the same.
      const picture = drawLandscape(seedOf(`${String(body['prompt'])} 0 0`), SIDE, SIDE);
      const file = { bytes: await encodePng(picture), contentType: 'image/png', seconds: null };
      return { text: null, files: [file] };
    }
    case 'speech': {
      const text = String(body['input']);
      return sound(hum(text.split(' '), VOICE_HERTZ, seedOf(text)));
    }
    case 'music':
      return sound(chords(MUSIC_S, seedOf(asked)));
    default:
      return { text: Buffer.from(JSON.stringify(answerTo(asked, model))), files: [] };
  }
}

function sound(bytes: Buffer): Made {
  const seconds = Math.round((bytes.length / WAV_BYTES_A_SECOND) * 100) / 100;
  return { text: null, files: [{ bytes, contentType: 'audio/wav', seconds }] };
}

function answerTo(asked: string, model: string): object {
  const { answer } =
    CHATS.find(({ question }) => asked.includes(question.slice(0, 20))) ?? CHATS[0];
  const message = { role: 'assistant', content: answer };
  return {
    id: `chatcmpl-${seedOf(asked)}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 24, completion_tokens: 140, total_tokens: 164 },
  };
}
