/** The checks that ComfyUI's own nodes make before a graph runs, with its own messages. */

export type Graph = Readonly<Record<string, GraphNode>>;

export interface GraphNode {
  readonly class_type: string;
  readonly inputs: Readonly<Record<string, unknown>>;
}

export interface Files {
  readonly checkpoints: readonly string[];
  /** Uploads by the names that graphs use for them. */
  readonly uploads: ReadonlyMap<string, Buffer>;
}

export interface Refusal {
  readonly error: object;
  readonly node_errors: object;
}

interface Input {
  readonly from?: number;
  readonly to?: number;
  readonly isCheckpoint?: true;
  readonly isFile?: true;
}

interface NodeClass {
  readonly inputs: Readonly<Record<string, Input>>;
  readonly isOutput?: true;
}

const ANY: Input = {};
const SIDE: Input = { from: 16, to: 16_384 };
const COUNT: Input = { from: 1, to: 4_096 };

const CLASSES: Readonly<Record<string, NodeClass>> = {
  CheckpointLoaderSimple: { inputs: { ckpt_name: { isCheckpoint: true } } },
  CLIPTextEncode: { inputs: { text: ANY, clip: ANY } },
  EmptyLatentImage: { inputs: { width: SIDE, height: SIDE, batch_size: COUNT } },
  KSampler: {
    inputs: {
      model: ANY,
      seed: { from: 0, to: Number.MAX_SAFE_INTEGER },
      steps: { from: 1, to: 10_000 },
      cfg: { from: 0, to: 100 },
      sampler_name: ANY,
      scheduler: ANY,
      positive: ANY,
      negative: ANY,
      latent_image: ANY,
      denoise: { from: 0, to: 1 },
    },
  },
  VAEDecode: { inputs: { samples: ANY, vae: ANY } },
  VAEEncode: { inputs: { pixels: ANY, vae: ANY } },
  LoadImage: { inputs: { image: { isFile: true } } },
  LoadImageMask: { inputs: { image: { isFile: true }, channel: ANY } },
  ImageScale: { inputs: { image: ANY, upscale_method: ANY, width: SIDE, height: SIDE, crop: ANY } },
  SetLatentNoiseMask: { inputs: { samples: ANY, mask: ANY } },
  SaveImage: { inputs: { images: ANY, filename_prefix: ANY }, isOutput: true },
  PreviewImage: { inputs: { images: ANY }, isOutput: true },
  WanImageToVideo: { inputs: { width: SIDE, height: SIDE, length: SIDE, batch_size: COUNT } },
  SaveVideo: { inputs: { video: ANY, filename_prefix: ANY }, isOutput: true },
  VHS_VideoCombine: { inputs: { images: ANY, frame_rate: COUNT }, isOutput: true },
  TextEncodeAceStepAudio: { inputs: { clip: ANY, tags: ANY, lyrics: ANY } },
  EmptyAceStepLatentAudio: { inputs: { seconds: { from: 1, to: 1_000 }, batch_size: COUNT } },
  SaveAudioMP3: { inputs: { audio: ANY, filename_prefix: ANY }, isOutput: true },
};

/** Null if the graph may run. */
export function refusalOf(graph: Graph, files: Files): Refusal | null {
  const unknown = Object.entries(graph).find(([, { class_type: name }]) => !(name in CLASSES));
  if (unknown !== undefined) {
    const [id, { class_type: name }] = unknown;
    const message = `Cannot execute because node ${name} does not exist.`;
    return refusal({ type: 'invalid_prompt', message, details: `Node ID '#${id}'` }, {});
  }
  if (!Object.values(graph).some(isOutput)) {
    return refusal(
      { type: 'prompt_no_outputs', message: 'Prompt has no outputs', details: '' },
      {},
    );
  }
  const faults = Object.entries(graph).flatMap(([id, node]) => {
    const errors = inputFaults(node, files);
    const told = { errors, dependent_outputs: ['9'], class_type: node.class_type };
    return errors.length === 0 ? [] : [[id, told] as const];
  });
  if (faults.length === 0) return null;
  const message = 'Prompt outputs failed validation';
  return refusal(
    { type: 'prompt_outputs_failed_validation', message, details: '' },
    Object.fromEntries(faults),
  );
}

export function isOutput({ class_type: name }: GraphNode): boolean {
  return CLASSES[name]?.isOutput === true;
}

function refusal(error: object, nodeErrors: object): Refusal {
  return { error: { ...error, extra_info: {} }, node_errors: nodeErrors };
}

function inputFaults(node: GraphNode, files: Files): object[] {
  const inputs = CLASSES[node.class_type]?.inputs ?? {};
  return Object.entries(inputs).flatMap(([name, input]) => {
    const value = node.inputs[name];
    if (Array.isArray(value)) return [];
    const fault = value === undefined ? MISSING : valueFault(value, input, files);
    if (fault === null) return [];
    const details = `${name}${fault.more ?? ''}`;
    return [{ ...fault, details, extra_info: { input_name: name, received_value: value } }];
  });
}

interface Fault {
  readonly type: string;
  readonly message: string;
  readonly more?: string;
}

const MISSING: Fault = { type: 'required_input_missing', message: 'Required input is missing' };

function valueFault(value: unknown, input: Input, { checkpoints, uploads }: Files): Fault | null {
  if (input.isCheckpoint && !checkpoints.includes(String(value))) {
    const more = `: '${String(value)}' not in ${JSON.stringify(checkpoints)}`;
    return { type: 'value_not_in_list', message: 'Value not in list', more };
  }
  if (input.isFile && !uploads.has(String(value))) {
    const more = ` - Invalid image file: ${String(value)}`;
    const message = 'Custom validation failed for node';
    return { type: 'custom_validation_failed', message, more };
  }
  return rangeFault(value, input);
}

function rangeFault(value: unknown, { from, to }: Input): Fault | null {
  if (from === undefined || to === undefined) return null;
  const number = Number(value);
  if (Number.isNaN(number)) {
    const message = 'Failed to convert an input value to a INT value';
    return { type: 'invalid_input_type', message };
  }
  if (number < from) {
    const message = `Value ${number} smaller than min of ${from}`;
    return { type: 'value_smaller_than_min', message };
  }
  const message = `Value ${number} bigger than max of ${to}`;
  return number > to ? { type: 'value_bigger_than_max', message } : null;
}
