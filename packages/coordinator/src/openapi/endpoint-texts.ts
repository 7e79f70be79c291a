/** Descriptions of the inference endpoints, with an example request each. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';

interface EndpointText {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  /** The name of the schema of a JSON body; null for other bodies. */
  readonly schema: string | null;
  /** A linter checks it against the schema. */
  readonly example: object;
}

const CAT = 'A cat on a roof at dawn';

export const ENDPOINT_TEXTS = {
  chat: {
    id: 'createChatCompletion',
    summary: 'Answer a conversation',
    description:
      'Media parts of `content` are `data:` URLs. With `stream: true` the answer is an event ' +
      'stream that ends with `data: [DONE]`.',
    schema: 'ChatCompletionRequest',
    example: {
      model: 'llama3.1:8b',
      messages: [{ role: 'user', content: 'Why is the sky blue?' }],
      stream: true,
    },
  },
  // Its requests are those of an API that is translated, and described with it.
  token_counts: null,
  completions: {
    id: 'createCompletion',
    summary: 'Continue a text (legacy)',
    description: 'Chat completions are preferred.',
    schema: 'CompletionRequest',
    example: { model: 'llama3.1:8b', prompt: 'Once upon a time', max_tokens: 64 },
  },
  transcriptions: {
    id: 'createTranscription',
    summary: 'Write down what is said',
    description:
      'Audio in wav, mp3, m4a, flac, ogg or webm, up to 26,214,400 bytes. `verbose_json` with ' +
      'granularities is answered with the plain transcript where the model does not list ' +
      '`timestamps` in its `supported_features`. `srt` and `vtt` are subtitles, made of the ' +
      'segments; of a model that tells no times they are refused with 400.',
    schema: null,
    example: { model: 'whisper-large-v3', file: '…', response_format: 'verbose_json' },
  },
  translations: {
    id: 'createTranslation',
    summary: 'Write down in English what is said',
    description:
      'Of a model that lists `translation` in its `supported_features`. Everything else is as in ' +
      'transcriptions.',
    schema: null,
    example: { model: 'whisper-large-v3', file: '…' },
  },
  speech: {
    id: 'createSpeech',
    summary: 'Speak a text',
    description:
      'Formats other than `wav` and `opus` are served where the provider makes them, and else ' +
      'answered as wav: the content type tells.',
    schema: 'SpeechRequest',
    example: {
      model: 'kokoro',
      input: 'Good morning.',
      voice: 'af_heart',
      response_format: 'opus',
    },
  },
  voices: {
    id: 'listVoices',
    summary: 'List the voices of a model',
    description: '',
    schema: null,
    example: {},
  },
  images: {
    id: 'createImage',
    summary: 'Draw images',
    description: '',
    schema: 'ImageRequest',
    example: { model: 'sdxl', prompt: CAT, n: 2, size: '1024x1024' },
  },
  edits: {
    id: 'createImageEdit',
    summary: 'Change an image',
    description: 'Images are png, jpeg or webp, up to 26,214,400 bytes each.',
    schema: null,
    example: { model: 'sdxl', prompt: 'Make it night', image: '…' },
  },
  videos: {
    id: 'createVideo',
    summary: 'Make a film',
    description: 'The film itself, or its address with `response_format: "url"`.',
    schema: 'VideoRequest',
    example: { model: 'wan', prompt: CAT, duration: 4, fps: 24 },
  },
  music: {
    id: 'createMusic',
    summary: 'Make music',
    description: 'The music itself, or its address with `response_format: "url"`.',
    schema: 'MusicRequest',
    example: { model: 'ace-step', prompt: 'slow piano', audio_duration: 30 },
  },
  embeddings: {
    id: 'createEmbeddings',
    summary: 'Make vectors of texts',
    description:
      'Up to 2,048 texts, or lists of token ids; a list is one call, however many the model ' +
      'server takes at once.',
    schema: 'EmbeddingsRequest',
    example: { model: 'nomic-embed-text', input: ['Good morning.', 'Good night.'] },
  },
  rerank: {
    id: 'rerank',
    summary: 'Order documents by their relevance to a query',
    description: 'In the form of Jina’s and Cohere’s APIs; also at `/v2/rerank` on the origin.',
    schema: 'RerankRequest',
    example: {
      model: 'bge-reranker-v2-m3',
      query: 'Why is the sky blue?',
      documents: ['Bread rises in the oven.', 'Air scatters blue light more.'],
      top_n: 1,
    },
  },
  voice: {
    id: 'createVoice',
    summary: 'Speak a text in the voice of a recording',
    description: 'Needs a model that lists `voice-cloning` in its `supported_features`.',
    schema: null,
    example: { model: 'chatterbox', input: 'Good morning.', file: '…' },
  },
} as const satisfies Readonly<Record<EndpointKey, EndpointText | null>>;

/** The schemas of the JSON bodies. */
export type RequestSchemaName = NonNullable<
  NonNullable<(typeof ENDPOINT_TEXTS)[EndpointKey]>['schema']
>;
