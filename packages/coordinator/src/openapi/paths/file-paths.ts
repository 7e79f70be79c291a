/** Files of requests for batches, and those that batches write. */
import { MAX_BATCH_FILE_BYTES } from '@inference-gateway/shared/openai/batch-files';
import * as examples from '../examples.js';
import type { ErrorAnswerName } from '../error-answers.js';
import type { Answer, Operation, Paths } from '../open-api.js';
import { callerOperation, jsonAnswer } from '../operation.js';
import type { OperationParts } from '../operation.js';
import { CALLER_HEADERS, headers } from '../response-headers.js';
import { ref } from '../schemas.js';

export function filePaths(): Paths {
  return {
    '/v1/files': { get: listFiles(), post: uploadFile() },
    '/v1/files/{id}': { get: getFile(), delete: deleteFile() },
    '/v1/files/{id}/content': { get: fetchContent() },
  };
}

function uploadFile(): Operation {
  const MiB = MAX_BATCH_FILE_BYTES / 1024 ** 2;
  return file('uploadFile', ['InvalidBatchFile', 'UploadTooLarge', 'UnsupportedBody'], {
    summary: 'Upload the requests of a batch',
    description:
      `JSON Lines of at most ${MiB} MiB: each line has \`custom_id\`, \`method\`, \`url\` and ` +
      '`body`. Every line is checked; an error names the first that is wrong. The file counts to ' +
      'the member’s space.',
    body: {
      required: true,
      content: { 'multipart/form-data': { schema: ref('FileUpload') } },
    },
    answers: { 200: fileAnswer('It is kept.') },
    errors: ['StorageFull'],
  });
}

function listFiles(): Operation {
  return file('listFiles', ['InvalidQuery'], {
    summary: 'List your files',
    parameters: ['Purpose', 'Order', 'FileLimit', 'After'],
    answers: {
      200: jsonAnswer({
        schema: 'ApiFileList',
        description: 'They are kept until they expire.',
        example: {
          object: 'list',
          data: [examples.file],
          has_more: false,
          first_id: examples.file.id,
          last_id: examples.file.id,
        },
      }),
    },
  });
}

function getFile(): Operation {
  return file('getFile', ['InvalidQuery', 'FileNotFound'], {
    summary: 'Get a file without its content',
    parameters: ['FileId'],
    answers: { 200: fileAnswer('The file.') },
  });
}

function deleteFile(): Operation {
  return file('deleteFile', ['InvalidQuery', 'FileNotFound', 'FileInUse'], {
    summary: 'Delete a file',
    parameters: ['FileId'],
    answers: {
      200: jsonAnswer({
        schema: 'DeletedFile',
        description: 'It is gone.',
        example: { id: examples.file.id, object: 'file', deleted: true },
      }),
    },
  });
}

function fetchContent(): Operation {
  const content = { 'application/jsonl': { schema: { type: 'string' } } } as const;
  const whole = headers(...CALLER_HEADERS, 'Accept-Ranges', 'ETag');
  const notModified = { description: 'The copy is good.', headers: headers(...CALLER_HEADERS) };
  const errors = ['InvalidQuery', 'FileNotFound', 'ConditionFailed', 'RangeOutside'] as const;
  return file('getFileContent', errors, {
    summary: 'Fetch the content of a file',
    parameters: ['FileId', 'Range', 'IfNoneMatch'],
    answers: {
      200: { description: 'The whole file.', headers: whole, content },
      206: {
        description: 'The part of it that `Range` names.',
        headers: { ...whole, ...headers('Content-Range') },
        content,
      },
      302: {
        description: 'Where the operator has it so: the object storage has the file.',
        headers: headers(...CALLER_HEADERS, 'Location'),
      },
      304: notModified,
    },
  });
}

function fileAnswer(description: string): Answer {
  return jsonAnswer({ schema: 'ApiFile', description, example: examples.file });
}

type Parts = Omit<OperationParts, 'id' | 'tag'>;

function file(id: string, errors: readonly ErrorAnswerName[], parts: Parts): Operation {
  const all = [...errors, ...(parts.errors ?? []), 'UnavailableOrAsyncDisabled'] as const;
  return callerOperation({ ...parts, id, tag: 'Batches', errors: all });
}
