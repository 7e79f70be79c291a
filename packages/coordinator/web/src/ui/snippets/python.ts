import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { answerOf, fieldsOf, fileNameOf, formFieldsOf, methodOf, urlOf } from './call.js';
import { variableOf } from './call.js';
import type { ClientMethod, SnippetCall } from './call.js';
import { quoted as quote } from './hidden.js';
import { PYTHON, literal } from './literal.js';

export function pythonSnippet(call: SnippetCall): string {
  const method = methodOf(call);
  return method === null ? byHttp(call) : byClient(call, method);
}

function byClient(call: SnippetCall, method: ClientMethod): string {
  const isInBase64 = isBase64(call);
  return lines(
    '# pip install openai',
    isInBase64 && 'import base64',
    variableOf(call.key) !== null && 'import os',
    'from openai import OpenAI',
    '',
    'client = OpenAI(',
    `    base_url=${quote(call.baseUrl)},`,
    `    api_key=${keyOf(call.key)},`,
    ')',
    '',
    `answer = client.${method.path}(`,
    ...argumentsOf(call, method).map(([name, value]) => `    ${name}=${value},`),
    ')',
    ...answerLines(call),
  );
}

/** Fields that the method does not have are passed in `extra_body`. */
function argumentsOf(
  call: SnippetCall,
  { fields }: ClientMethod,
): readonly (readonly [string, string])[] {
  const files = (call.files ?? []).map(
    ({ field, name }) => [field, `open(${quote(name)}, "rb")`] as const,
  );
  const named = fieldsOf(call).map(([name, value]) => [name.replace(/\[\]$/, ''), value] as const);
  const known = named.filter(([name]) => fields.has(name));
  const other = named.filter(([name]) => !fields.has(name));
  const extra = other.length === 0 ? [] : [['extra_body', Object.fromEntries(other)] as const];
  const written = [...known, ...extra].map(
    ([name, value]) => [name, literal(value, PYTHON, 1)] as const,
  );
  return [...files, ...written];
}

function answerLines(call: SnippetCall): readonly string[] {
  const isChat = call.endpoint === 'chat';
  switch (answerOf(call)) {
    case 'stream':
      return [
        'for chunk in answer:',
        '    for choice in chunk.choices:',
        `        text = ${isChat ? 'choice.delta.content' : 'choice.text'}`,
        '        print(text or "", end="", flush=True)',
        'print()',
      ];
    case 'text':
      return [call.body['response_format'] === 'text' ? 'print(answer)' : 'print(answer.text)'];
    case 'images':
      return isBase64(call)
        ? [
            'for number, image in enumerate(answer.data):',
            '    with open(f"image-{number}.png", "wb") as file:',
            '        file.write(base64.b64decode(image.b64_json))',
          ]
        : ['for image in answer.data:', '    print(image.url)'];
    case 'file':
      return [`answer.write_to_file(${quote(fileNameOf(call))})`];
    case 'json':
      return [`print(answer.choices[0].${isChat ? 'message.content' : 'text'})`];
  }
}

/** For calls that OpenAI's client has no method for. */
function byHttp(call: SnippetCall): string {
  const { method } = ENDPOINTS[call.endpoint];
  const isFile = answerOf(call) === 'file';
  return lines(
    '# pip install httpx',
    variableOf(call.key) !== null && 'import os',
    'import httpx',
    '',
    `answer = httpx.${method.toLowerCase()}(`,
    `    ${quote(urlOf(call))},`,
    `    headers={"Authorization": "Bearer " + ${keyOf(call.key)}},`,
    ...payload(call).map(([name, value]) => `    ${name}=${value},`),
    '    timeout=600,',
    ')',
    'if answer.is_error:',
    '    raise SystemExit(answer.text)',
    ...(isFile
      ? [`with open(${quote(fileNameOf(call))}, "wb") as file:`, '    file.write(answer.content)']
      : ['print(answer.text)']),
  );
}

function payload(call: SnippetCall): readonly (readonly [string, string])[] {
  const fields = Object.fromEntries(fieldsOf(call));
  switch (ENDPOINTS[call.endpoint].body) {
    case 'json':
      return [['json', literal(fields, PYTHON, 1)]];
    case 'query':
      return [['params', literal(fields, PYTHON, 1)]];
    case 'multipart': {
      const files = (call.files ?? []).map(
        ({ field, name }) => `(${quote(field)}, open(${quote(name)}, "rb"))`,
      );
      return [
        ['files', `[${files.join(', ')}]`],
        ['data', literal(Object.fromEntries(formFieldsOf(call)), PYTHON, 1)],
      ];
    }
  }
}

function isBase64({ body }: SnippetCall): boolean {
  return body['response_format'] === 'b64_json';
}

function keyOf(key: string): string {
  const variable = variableOf(key);
  return variable === null ? quote(key) : `os.environ[${quote(variable)}]`;
}

function lines(...all: readonly (string | false)[]): string {
  return all.filter((line) => line !== false).join('\n');
}
