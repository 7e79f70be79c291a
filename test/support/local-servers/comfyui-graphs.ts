/** Workflows with placeholders, as an owner saves them; no larger than tests need. */
import { COMFY_CHECKPOINTS } from './comfyui.js';

const CHECKPOINT = {
  class_type: 'CheckpointLoaderSimple',
  inputs: { ckpt_name: COMFY_CHECKPOINTS[0] },
};
const POSITIVE = { class_type: 'CLIPTextEncode', inputs: { text: '{{prompt}}', clip: ['4', 1] } };

export const PICTURE_GRAPH = {
  '3': {
    class_type: 'KSampler',
    inputs: {
      model: ['4', 0],
      positive: ['6', 0],
      negative: ['7', 0],
      latent_image: ['5', 0],
      seed: '{{seed}}',
      steps: '{{steps:8}}',
      cfg: '{{cfg:1.5}}',
      sampler_name: 'euler',
      scheduler: 'normal',
      denoise: 1,
    },
  },
  '4': CHECKPOINT,
  '5': {
    class_type: 'EmptyLatentImage',
    inputs: { width: '{{width:768}}', height: '{{height}}', batch_size: 1 },
  },
  '6': { ...POSITIVE, _meta: { title: 'not {{read}}' } },
  '7': { ...POSITIVE, inputs: { text: 'blurry, {{negative_prompt:ugly}}', clip: ['4', 1] } },
  '8': { class_type: 'VAEDecode', inputs: { samples: ['3', 0], vae: ['4', 2] } },
  '9': { class_type: 'SaveImage', inputs: { images: ['8', 0], filename_prefix: 'gateway' } },
};

export const FILM_GRAPH = {
  '1': CHECKPOINT,
  '2': { ...POSITIVE, inputs: { text: '{{prompt}}', clip: ['1', 1] } },
  '3': {
    class_type: 'WanImageToVideo',
    inputs: { width: '{{width}}', height: '{{height}}', length: '{{frames:81}}', batch_size: 1 },
  },
  '4': { class_type: 'SaveVideo', inputs: { video: ['3', 0], filename_prefix: 'f{{fps:16}}' } },
};

export const SONG_GRAPH = {
  '1': {
    class_type: 'TextEncodeAceStepAudio',
    inputs: { clip: ['4', 1], tags: '{{prompt}}', lyrics: '{{lyrics}}' },
  },
  '2': {
    class_type: 'EmptyAceStepLatentAudio',
    inputs: { seconds: '{{seconds:30}}', batch_size: 1 },
  },
  '3': { class_type: 'SaveAudioMP3', inputs: { audio: ['2', 0], filename_prefix: 'song' } },
  '4': CHECKPOINT,
};
