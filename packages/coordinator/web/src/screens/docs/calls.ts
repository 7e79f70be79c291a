/** The calls that the quick start shows. */
import type { SnippetCall } from '../../ui/snippets/snippets.js';

export const PLACEHOLDER = 'your-model';

export const CALLS = [
  {
    value: 'chat',
    label: 'Chat',
    type: 'llm',
    text: 'One question, one answer.',
  },
  {
    value: 'stream',
    label: 'Stream',
    type: 'llm',
    text: 'The answer word by word, as it is made.',
  },
  {
    value: 'job',
    label: 'Job',
    type: 'llm',
    text: 'Queued at once; its answer is read later from /jobs. Good for long work.',
  },
  {
    value: 'image',
    label: 'Image',
    type: 'image',
    text: 'A picture, kept in your library.',
  },
  {
    value: 'speech',
    label: 'Speech',
    type: 'tts',
    text: 'Text read aloud, as a file.',
  },
  {
    value: 'transcription',
    label: 'Transcription',
    type: 'stt',
    text: 'What is said in a file of up to 25 MB.',
  },
] as const;

export type CallName = (typeof CALLS)[number]['value'];

const MESSAGES = [{ role: 'user', content: 'Why is the sky blue?' }];

export function callOf(
  name: CallName,
  model: string,
): Pick<SnippetCall, 'endpoint' | 'body' | 'files'> {
  switch (name) {
    case 'chat':
      return { endpoint: 'chat', body: { model, messages: MESSAGES } };
    case 'stream':
      return { endpoint: 'chat', body: { model, messages: MESSAGES, stream: true } };
    case 'job':
      return { endpoint: 'chat', body: { model, messages: MESSAGES, async: true } };
    case 'image':
      return { endpoint: 'images', body: { model, prompt: 'A lighthouse at dawn' } };
    case 'speech':
      return { endpoint: 'speech', body: { model, input: 'Hello from home.' } };
    case 'transcription':
      return {
        endpoint: 'transcriptions',
        body: { model },
        files: [{ field: 'file', name: 'speech.wav' }],
      };
  }
}
