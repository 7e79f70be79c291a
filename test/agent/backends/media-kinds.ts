/** Every backend that serves media: one table, a file each for those who share a stage. */
import { IMAGE_KINDS } from './image-kinds.js';
import type { MediaKind } from './media-stages.js';
import { OPENAI_KINDS } from './openai-media-kinds.js';
import { SPEECH_KINDS } from './speech-kinds.js';

export const MEDIA_KINDS: readonly MediaKind[] = [...OPENAI_KINDS, ...SPEECH_KINDS, ...IMAGE_KINDS];
