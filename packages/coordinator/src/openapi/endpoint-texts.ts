/** What is told of each inference endpoint beyond its row. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';

interface EndpointText {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
}

export const ENDPOINT_TEXTS: Readonly<Record<EndpointKey, EndpointText>> = {
  chat: {
    id: 'createChatCompletion',
    summary: 'Answer a conversation',
    description:
      'Media parts of `content` are `data:` URLs. With `stream: true` the answer is an event ' +
      'stream that ends with `data: [DONE]`.',
  },
  completions: {
    id: 'createCompletion',
    summary: 'Continue a text (legacy)',
    description: 'Chat completions are preferred.',
  },
  transcriptions: {
    id: 'createTranscription',
    summary: 'Write down what is said',
    description:
      'Audio in wav, mp3, m4a, flac, ogg or webm, up to 26,214,400 bytes. `verbose_json` with ' +
      'granularities is answered with the plain transcript where the model does not list ' +
      '`timestamps` in its `supported_features`. `srt` and `vtt` are subtitles, made of the ' +
      'segments; of a model that tells no times they are refused with 400.',
  },
  speech: {
    id: 'createSpeech',
    summary: 'Speak a text',
    description:
      'Formats other than `wav` and `opus` are served where the provider makes them, and else ' +
      'answered as wav: the content type tells.',
  },
  voices: { id: 'listVoices', summary: 'List the voices of a model', description: '' },
  images: { id: 'createImage', summary: 'Draw images', description: '' },
  edits: {
    id: 'createImageEdit',
    summary: 'Change an image',
    description: 'Images are png, jpeg or webp, up to 26,214,400 bytes each.',
  },
  videos: {
    id: 'createVideo',
    summary: 'Make a film',
    description: 'The film itself, or its address with `response_format: "url"`.',
  },
  music: {
    id: 'createMusic',
    summary: 'Make music',
    description: 'The music itself, or its address with `response_format: "url"`.',
  },
  voice: {
    id: 'createVoice',
    summary: 'Speak a text in the voice of a recording',
    description: 'Needs a model that lists `voice-cloning` in its `supported_features`.',
  },
};
