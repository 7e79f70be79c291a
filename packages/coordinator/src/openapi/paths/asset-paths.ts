/** Models, and generated files. */
import * as examples from '../examples.js';
import { fileTypes } from '../inference-answers.js';
import type { Answer, Operation, Paths } from '../open-api.js';
import { callerOperation, eitherOperation, jsonAnswer, linkedOperation } from '../operation.js';
import { CALLER_HEADERS, headers, optional, PLAIN_HEADERS } from '../response-headers.js';

export function modelPaths(): Paths {
  return {
    '/v1/models': { get: listModels() },
    '/v1/models/{id}': { get: getModel() },
  };
}

export function assetPaths(): Paths {
  return {
    '/api/inference/assets': { get: listAssets() },
    '/api/inference/assets/{id}/': { get: fetchAsset(), delete: deleteAsset() },
  };
}

function listModels(): Operation {
  return callerOperation({
    id: 'listModels',
    tag: 'Models',
    summary: 'List the models that are online for you',
    parameters: ['ProviderScope'],
    answers: {
      200: jsonAnswer({
        schema: 'ModelList',
        description: 'One row for each id and service type.',
        example: { object: 'list', data: [examples.model] },
      }),
    },
    errors: ['InvalidQuery'],
  });
}

function getModel(): Operation {
  return callerOperation({
    id: 'getModel',
    tag: 'Models',
    summary: 'Get one model',
    parameters: ['ModelId', 'ProviderScope'],
    answers: {
      200: jsonAnswer({
        schema: 'Model',
        description: 'The model.',
        example: examples.model,
      }),
    },
    errors: ['InvalidQuery', 'NoProvider'],
  });
}

function listAssets(): Operation {
  return eitherOperation({
    id: 'listAssets',
    tag: 'Files',
    summary: 'List the files that were made for you, the newest first',
    parameters: ['Search', 'AssetLimit', 'After'],
    answers: {
      200: jsonAnswer({
        schema: 'AssetList',
        description: 'They are kept until they expire.',
        example: { object: 'list', data: [examples.asset], has_more: false },
      }),
    },
    errors: ['InvalidQuery'],
  });
}

function fetchAsset(): Operation {
  const file = { ...FILE_HEADERS, ...headers('Accept-Ranges', 'ETag') };
  return linkedOperation({
    id: 'getAsset',
    tag: 'Files',
    summary: 'Fetch a file',
    description:
      'Where the operator or the key has it so, the addresses in answers are links: with their ' +
      '`expires` and `signature` no key is asked for.',
    parameters: ['AssetId', 'LinkExpires', 'LinkSignature', 'Range', 'IfNoneMatch'],
    answers: {
      200: {
        description: 'The whole file.',
        headers: file,
        content: fileTypes('image', 'audio', 'video'),
      },
      206: {
        description: 'The part of it that `Range` names.',
        headers: { ...file, ...headers('Content-Range') },
        content: fileTypes('image', 'audio', 'video'),
      },
      302: {
        description: 'Where the operator has it so: the object storage has the file.',
        headers: { ...FILE_HEADERS, ...headers('Location') },
      },
      304: { description: 'The copy is good.', headers: { ...FILE_HEADERS, ...headers('ETag') } },
    },
    errors: ['InvalidQuery', 'AssetNotFound', 'ConditionFailed', 'RangeOutside', 'Unavailable'],
  });
}

/** Without a key there are no rate-limit headers. */
const FILE_HEADERS: NonNullable<Answer['headers']> = {
  ...optional(...CALLER_HEADERS),
  ...headers(...PLAIN_HEADERS),
};

function deleteAsset(): Operation {
  return eitherOperation({
    id: 'deleteAsset',
    tag: 'Files',
    summary: 'Delete a file',
    parameters: ['AssetId'],
    answers: {
      200: jsonAnswer({
        schema: 'DeletedAsset',
        description: 'It is gone.',
        example: { id: examples.asset.id, object: 'asset', deleted: true },
      }),
    },
    errors: ['InvalidQuery', 'AssetNotFound', 'ForeignOrigin'],
  });
}
