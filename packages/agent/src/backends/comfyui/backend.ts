/**
 * ComfyUI. It has no models that take a prompt, only graphs of nodes, which can run code and read
 * files. So the agent offers only the owner's workflows with placeholders or, for images without a
 * workflow, each checkpoint through a plain graph of the agent. A caller never sends a graph.
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { notServed } from '../../openai-wire/error-document.js';
import { asObject, asText } from '../../openai-wire/json.js';
import { advertise } from '../advertise.js';
import type { ListedModel } from '../advertise.js';
import { LocalFailure } from '../backend.js';
import type { Backend, Description, LocalAnswer, LocalCall, ServiceConfig } from '../backend.js';
import { checkAnswer, probe, serverRoot } from '../probe.js';
import { withoutFields } from '../../openai-wire/request-body.js';
import type { ComfyServer } from './comfy-server.js';
import { makeMedia, requestValues } from './make-media.js';
import { uploadPictures } from './pictures.js';
import { placeholdersOf } from './workflow.js';
import type { Graph } from './workflow.js';

export class ComfyUiBackend implements Backend {
  readonly #service: ServiceConfig;
  readonly #server: ComfyServer;

  constructor(service: ServiceConfig) {
    this.#service = service;
    this.#server = { root: serverRoot(service.baseUrl), apiKey: service.apiKey };
  }

  async describe(signal: AbortSignal): Promise<Description> {
    const { system } = asObject(await this.#get('/system_stats', signal)) ?? {};
    if (asText(asObject(system)?.['comfyui_version']) === null) {
      const message = `${this.#server.root} is not ComfyUI. Check the base URL.`;
      throw new LocalFailure('LOCAL_ERROR', message);
    }
    const { workflows, type } = this.#service;
    if (workflows.length > 0) {
      return { models: advertise(workflows.map(listed), this.#service), slots: 1 };
    }
    if (type !== 'image') return { models: [], slots: 1 };
    const checkpoints = readCheckpoints(await this.#get('/models/checkpoints', signal));
    const models = advertise(
      checkpoints.map(({ name }) => ({ servedName: name })),
      this.#service,
    );
    return { models: models.map((model) => fileOf(model, checkpoints)), slots: 1 };
  }

  async call(call: LocalCall): Promise<LocalAnswer> {
    const { serviceType, media } = ENDPOINTS[call.endpoint];
    const body = withoutFields(call.body, this.#service.dropFields);
    const graph = this.#graphFor({ ...call, body });
    if (serviceType !== this.#service.type || media === null || graph === null) {
      return notServed(call);
    }
    const places = placeholdersOf(graph);
    const pictures = await uploadPictures(this.#server, { ...call, body }, places);
    if ('kind' in pictures) return pictures;
    const values = new Map([...requestValues(body, graph), ...pictures]);
    const wanted = media === 'image' ? Number(values.get('n') ?? 1) : 1;
    const { signal } = call;
    return makeMedia(this.#server, { graph, values, family: media, wanted, signal });
  }

  #graphFor({ model, body, uploads }: LocalCall): Graph | null {
    const { workflows } = this.#service;
    const name = model.served_name;
    if (workflows.length > 0) return workflows.find(({ id }) => id === name)?.graph ?? null;
    if (uploads.length === 0) return textToImage(name);
    const isSized = asText(body['size']) !== null;
    return imageToImage(name, { isSized, isMasked: uploads.some((one) => one.name === 'mask') });
  }

  async #get(path: string, signal: AbortSignal): Promise<unknown> {
    const { root, apiKey } = this.#server;
    const answer = await probe(root + path, { apiKey, signal });
    checkAnswer(answer, root + path);
    return answer.json;
  }
}

function listed({ id, graph }: ServiceConfig['workflows'][number]): ListedModel {
  const takesPictures = placeholdersOf(graph).some(({ name }) => name.startsWith('image'));
  return { servedName: id, ...(takesPictures && { inputModalities: ['text', 'image'] }) };
}

// ComfyUI's checkpoints: files below its folder of models; callers see them without extension.
interface Checkpoint {
  /** The id for callers. */
  readonly name: string;
  /** The name that ComfyUI expects: the path below the folder, with its system's separators. */
  readonly file: string;
}

/** The link's limit for a name. */
const MAX_NAME_CHARACTERS = 256;

const ENDING = /\.(?:safetensors|ckpt|pt|pth|sft)$/i;

/** Reads `/models/checkpoints`. Throws a `LocalFailure` if it is not a list. */
function readCheckpoints(json: unknown): Checkpoint[] {
  if (!Array.isArray(json)) {
    const message =
      '/models/checkpoints is no list. Update ComfyUI, or give the service workflows.';
    throw new LocalFailure('LOCAL_ERROR', message);
  }
  const files = json.filter((file) => typeof file === 'string' && file !== '');
  return files.map((file: string) => ({ name: nameOf(file), file }));
}

type Model = Description['models'][number];

/**
 * The owner may have configured either name; if the path is too long for the link, the name stays.
 */
function fileOf(model: Model, checkpoints: readonly Checkpoint[]): Model {
  const served = model.served_name;
  const found = checkpoints.find(({ name, file }) => name === served || file === served);
  const file = found?.file ?? served;
  return file.length > MAX_NAME_CHARACTERS ? model : { ...model, served_name: file };
}

/** Windows separators, too. */
function nameOf(file: string): string {
  return file.replaceAll('\\', '/').replace(ENDING, '');
}

// The graph for checkpoints without a workflow of the owner: text, or picture and text, to picture,
// for Stable Diffusion 1.5, 2 and XL. Pictures are only previewed: ComfyUI erases previews when it
// starts, so pictures of strangers do not stay in `output`.

interface EditShape {
  /** Whether the caller names a size; otherwise the picture keeps its size. */
  readonly isSized: boolean;
  readonly isMasked: boolean;
}

function textToImage(checkpoint: string): Graph {
  const side = usualSide(checkpoint);
  return {
    ...frame(checkpoint, { latent: ['latent', 0], denoise: 1 }),
    latent: {
      class_type: 'EmptyLatentImage',
      inputs: { width: `{{width:${side}}}`, height: `{{height:${side}}}`, batch_size: 1 },
    },
  };
}

/** The mask is white in the area to repaint. */
function imageToImage(checkpoint: string, { isSized, isMasked }: EditShape): Graph {
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

/** Only the name can tell the family; a picture of the wrong size shows its subject twice. */
function usualSide(checkpoint: string): number {
  return /xl|pony|illustrious|noob/i.test(checkpoint) ? 1_024 : 512;
}
