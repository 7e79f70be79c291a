/** whisper.cpp's server as observed, with its flattened errors. */
import type { ServerResponse } from 'node:http';
import { send, startRecordingServer } from './recording-server.js';
import type { RecordedRequest, RecordingServer } from './recording-server.js';

export interface WhisperRequest {
  readonly fields: Readonly<Record<string, string>>;
  readonly file: Buffer | null;
  readonly fileName: string;
  readonly fileType: string;
  readonly recorded: RecordedRequest;
}

export type WhisperBehaviour = (
  request: WhisperRequest,
  response: ServerResponse,
) => void | Promise<void>;

export interface FakeWhisperOptions {
  /** `--inference-path`. */
  readonly inferencePath?: string;
  /** `--convert`: it reads every format that ffmpeg reads. */
  readonly converts?: boolean;
}

/** A real server's answer to half a second of tones, shortened. */
export const VERBOSE = {
  task: 'transcribe',
  language: 'english',
  duration: 3.563312,
  text: ' large round could\n',
  segments: [
    {
      id: 0,
      text: ' large round could',
      start: 0.6,
      end: 30,
      tokens: [163, 112, 99],
      words: [
        { word: ' large', start: 0.65, end: 2.41, t_dtw: -1, probability: 0.173 },
        { word: ' ro', start: 2.41, end: 2.8, t_dtw: -1, probability: 0.9 },
        { word: 'und', start: 2.8, end: 3.1, t_dtw: -1, probability: 0.9 },
        { word: ' could', start: 3.1, end: 30, t_dtw: -1, probability: 0.9 },
      ],
      temperature: 0,
      avg_logprob: -1.62,
      no_speech_prob: 5.8e-22,
    },
  ],
};

export class FakeWhisperServer {
  readonly server: RecordingServer;
  readonly calls: WhisperRequest[];
  /** Answers as it does while it loads its model. */
  loading = false;
  behaviour: WhisperBehaviour | null = null;

  constructor(server: RecordingServer, calls: WhisperRequest[]) {
    this.server = server;
    this.calls = calls;
  }

  get lastCall(): WhisperRequest {
    const last = this.calls.at(-1);
    if (last === undefined) throw new Error('nothing was transcribed yet');
    return last;
  }
}

export async function startFakeWhisper(
  options: FakeWhisperOptions = {},
): Promise<FakeWhisperServer> {
  const { inferencePath = '/inference', converts = false } = options;
  const calls: WhisperRequest[] = [];
  const server = await startRecordingServer((request, response) => {
    response.setHeader('server', 'whisper.cpp');
    const { method, path } = request;
    const isInference = path === inferencePath;
    if (method === 'OPTIONS' && isInference) return send(response, 200, '');
    if (method === 'GET' && path === '/health' && !fake.loading) {
      return send(response, 200, { status: 'ok' });
    }
    if (method === 'POST' && isInference) return infer(request, response);
    return send(response, 404, `File Not Found (${path})`);
  });
  const fake = new FakeWhisperServer(server, calls);
  return fake;

  async function infer(recorded: RecordedRequest, response: ServerResponse): Promise<void> {
    const call = await readForm(recorded);
    calls.push(call);
    if (fake.behaviour !== null) return fake.behaviour(call, response);
    if (call.file === null || !(converts || isReadable(call.file))) {
      return send(response, 400, 'Invalid request');
    }
    if (Number.isNaN(Number(call.fields['temperature'] ?? 0))) {
      return send(response, 500, 'stof');
    }
    const isVerbose = call.fields['response_format'] === 'verbose_json';
    return send(response, 200, isVerbose ? VERBOSE : { text: VERBOSE.text });
  }
}

async function readForm(recorded: RecordedRequest): Promise<WhisperRequest> {
  const headers = { 'content-type': recorded.headers['content-type'] ?? '' };
  const form = await new Response(new Uint8Array(recorded.body), { headers }).formData();
  const fields: Record<string, string> = {};
  for (const [name, value] of form) if (typeof value === 'string') fields[name] = value;
  const file = form.get('file');
  if (!(file instanceof File)) {
    return { fields, file: null, fileName: '', fileType: '', recorded };
  }
  const bytes = Buffer.from(await file.arrayBuffer());
  return { fields, file: bytes, fileName: file.name, fileType: file.type, recorded };
}

/** Formats that miniaudio decodes: no MP4, no WebM, and of Ogg only Vorbis. */
function isReadable(file: Buffer): boolean {
  const start = file.toString('latin1', 0, 64);
  if (start.startsWith('OggS')) return !start.includes('OpusHead');
  return start.startsWith('RIFF') || start.startsWith('ID3') || start.startsWith('fLaC');
}
