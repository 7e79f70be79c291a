/** GPT4All refuses streaming, stop sequences, and every field that it does not know. */
import { answer, reply } from '../fake-behaviours.js';
import type { Behaviour, FakeModelServer } from '../fake-model-server.js';
import { modelList, startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';

/** It has no API keys. */
export function startGpt4All(options: StandInOptions = {}): Promise<FakeModelServer> {
  const { behaviour = answer() } = options;
  return startStandIn(
    { ...options, behaviour: choosy(behaviour) },
    {
      routes: {
        '/v1/models': modelList([{ id: 'tiny' }], {
          owned_by: 'humanity',
          root: 'tiny',
          created: 0,
        }),
      },
    },
  );
}

function choosy(behaviour: Behaviour): Behaviour {
  return (request, response) => {
    const { body } = request;
    const refused = UNSUPPORTED.find((field) => (body[field] ?? false) !== false);
    const unknown = Object.keys(body).find((field) => !KNOWN.has(field));
    if (refused === undefined && unknown === undefined) return behaviour(request, response);
    const message =
      refused === undefined
        ? `Unrecognized request argument supplied: ${unknown}`
        : `'${refused}' is not supported`;
    const error = { message, type: 'invalid_request_error', param: null, code: null };
    return reply(400, { error })(request, response);
  };
}

const UNSUPPORTED = ['stream', 'stream_options', 'stop', 'seed', 'presence_penalty']
  .concat(['frequency_penalty', 'logit_bias', 'logprobs', 'top_logprobs', 'response_format'])
  .concat(['tools', 'tool_choice', 'functions', 'function_call', 'suffix']);
const KNOWN: ReadonlySet<string> = new Set(
  UNSUPPORTED.concat([
    'model',
    'messages',
    'prompt',
    'max_tokens',
    'n',
    'temperature',
    'top_p',
  ]).concat(['min_p', 'user', 'best_of', 'echo', 'service_tier', 'parallel_tool_calls']),
);
