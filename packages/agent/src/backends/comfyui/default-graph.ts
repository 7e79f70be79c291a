/**
 * What is run where the owner gives no workflow: the plain way from a text, or a picture and a
 * text, to a picture, for checkpoints of Stable Diffusion 1.5, 2 and XL. Pictures are previewed
 * alone: ComfyUI erases previews when it starts, so what strangers made does not stay in `output`.
 */
import type { Graph } from './placeholders.js';

export interface EditShape {
  /** Whether the caller names a size; otherwise the picture keeps its own. */
  readonly isSized: boolean;
  readonly isMasked: boolean;
}

export function textToImage(checkpoint: string): Graph {
  const side = usualSide(checkpoint);
  return {
    ...frame(checkpoint, { latent: ['latent', 0], denoise: 1 }),
    latent: {
      class_type: 'EmptyLatentImage',
      inputs: { width: `{{width:${side}}}`, height: `{{height:${side}}}`, batch_size: 1 },
    },
  };
}

/** The mask is white where the picture is to be painted anew. */
export function imageToImage(checkpoint: string, { isSized, isMasked }: EditShape): Graph {
  return {
    ...frame(checkpoint, {
      latent: [isMasked ? 'masked' : 'encoded', 0],
      denoise: '{{denoise}}',
    }),
    image: { class_type: 'LoadImage', inputs: { image: '{{image}}' } },
    ...(isSized && { sized: SIZED }),
    encoded: {
      class_type: 'VAEEncode',
      inputs: { pixels: [isSized ? 'sized' : 'image', 0], vae: ['checkpoint', 2] },
    },
    ...(isMasked && MASKED),
  };
}

const SIZED = {
  class_type: 'ImageScale',
  inputs: {
    image: ['image', 0],
    upscale_method: 'lanczos',
    width: '{{width}}',
    height: '{{height}}',
    crop: 'disabled',
  },
};

const MASKED = {
  mask: { class_type: 'LoadImageMask', inputs: { image: '{{mask}}', channel: 'red' } },
  masked: {
    class_type: 'SetLatentNoiseMask',
    inputs: { samples: ['encoded', 0], mask: ['mask', 0] },
  },
};

interface Middle {
  readonly latent: readonly [node: string, output: number];
  readonly denoise: number | string;
}

function frame(checkpoint: string, { latent, denoise }: Middle): Graph {
  return {
    checkpoint: { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: checkpoint } },
    positive: encoded('{{prompt}}'),
    negative: encoded('{{negative_prompt}}'),
    sampler: {
      class_type: 'KSampler',
      inputs: {
        model: ['checkpoint', 0],
        positive: ['positive', 0],
        negative: ['negative', 0],
        latent_image: latent,
        seed: '{{seed}}',
        steps: '{{steps:20}}',
        cfg: '{{cfg:7}}',
        sampler_name: 'euler',
        scheduler: 'normal',
        denoise,
      },
    },
    decoded: {
      class_type: 'VAEDecode',
      inputs: { samples: ['sampler', 0], vae: ['checkpoint', 2] },
    },
    saved: { class_type: 'PreviewImage', inputs: { images: ['decoded', 0] } },
  };
}

function encoded(text: string): object {
  return { class_type: 'CLIPTextEncode', inputs: { text, clip: ['checkpoint', 1] } };
}

/** A name tells the family, if anything does: a picture of the wrong size comes out doubled. */
function usualSide(checkpoint: string): number {
  return /xl|pony|illustrious|noob/i.test(checkpoint) ? 1_024 : 512;
}
