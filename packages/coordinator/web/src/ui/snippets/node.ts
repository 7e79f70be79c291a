import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { answerOf, fieldsOf, fileNameOf, formFieldsOf, methodOf, urlOf } from './call.js';
import { variableOf } from './call.js';
import type { ClientMethod, SnippetCall } from './call.js';
import { hasHidden, quoted } from './hidden.js';
import { NODE, literal } from './literal.js';

/** An ES module: it is saved as `.mjs`, or belongs to a package of type `module`. */
export function nodeSnippet(call: SnippetCall): string {
  const method = methodOf(call);
  return method === null ? byFetch(call) : byClient(call, method);
}

function byClient(call: SnippetCall, method: ClientMethod): string {
  const { files = [] } = call;
  const opened = files.map(({ field, name }) => `  ${field}: createReadStream(${quote(name)}),`);
  const fields = fieldsOf(call).map(
    ([name, value]) => `  ${NODE.name(name.replace(/\[\]$/, ''))}: ${literal(value, NODE, 1)},`,
  );
  return lines(
    '// npm install openai, then save this as call.mjs and run: node call.mjs',
    files.length > 0 && `import { createReadStream } from 'node:fs';`,
    isSaved(call) && `import { writeFile } from 'node:fs/promises';`,
    `import OpenAI from 'openai';`,
    '',
    'const client = new OpenAI({',
    `  baseURL: ${quote(call.baseUrl)},`,
    `  apiKey: ${keyOf(call.key)},`,
    '});',
    '',
    `const answer = await client.${method.path}({`,
    ...opened,
    ...fields,
    '});',
    ...answerLines(call),
  );
}

function answerLines(call: SnippetCall): readonly string[] {
  const isChat = call.endpoint === 'chat';
  switch (answerOf(call)) {
    case 'stream':
      return [
        'for await (const chunk of answer) {',
        `  const [choice] = chunk.choices;`,
        `  process.stdout.write(choice?.${isChat ? 'delta?.content' : 'text'} ?? '');`,
        '}',
        `process.stdout.write('\\n');`,
      ];
    case 'text':
      return [`console.log(${isPlainText(call) ? 'answer' : 'answer.text'});`];
    case 'images':
      return isBase64(call)
        ? [
            'for (const [number, image] of answer.data.entries()) {',
            `  await writeFile(\`image-\${number}.png\`, Buffer.from(image.b64_json, 'base64'));`,
            '}',
          ]
        : ['for (const image of answer.data) console.log(image.url);'];
    case 'file':
      return saveLines(call);
    case 'json':
      return [`console.log(answer.choices[0].${isChat ? 'message.content' : 'text'});`];
  }
}

function byFetch(call: SnippetCall): string {
  const { method, body } = ENDPOINTS[call.endpoint];
  const query = new URLSearchParams(fieldsOf(call).map(([name, value]) => [name, String(value)]));
  const url = body === 'query' ? `${urlOf(call)}?${query}` : urlOf(call);
  const isJson = body === 'json';
  return lines(
    '// Save this as call.mjs and run: node call.mjs',
    call.files !== undefined && `import { openAsBlob } from 'node:fs';`,
    isSaved(call) && `import { writeFile } from 'node:fs/promises';`,
    '',
    ...(body === 'multipart' ? [...formLines(call), ''] : []),
    `const answer = await fetch(${quote(url)}, {`,
    `  method: '${method}',`,
    '  headers: {',
    `    Authorization: 'Bearer ' + ${keyOf(call.key)},`,
    isJson && `    'Content-Type': 'application/json',`,
    '  },',
    isJson && `  body: JSON.stringify(${literal(Object.fromEntries(fieldsOf(call)), NODE, 1)}),`,
    body === 'multipart' && '  body: form,',
    '});',
    'if (!answer.ok) throw new Error(await answer.text());',
    ...(isSaved(call) ? saveLines(call) : ['console.log(await answer.json());']),
  );
}

function formLines(call: SnippetCall): readonly string[] {
  return [
    'const form = new FormData();',
    ...(call.files ?? []).map(
      ({ field, name }) =>
        `form.append(${quote(field)}, await openAsBlob(${quote(name)}), ${quote(name)});`,
    ),
    ...formFieldsOf(call).map(([name, text]) => `form.append(${quote(name)}, ${quote(text)});`),
  ];
}

function saveLines(call: SnippetCall): readonly string[] {
  const name = quote(fileNameOf(call));
  return [`await writeFile(${name}, Buffer.from(await answer.arrayBuffer()));`];
}

function isSaved(call: SnippetCall): boolean {
  return answerOf(call) === 'file' || (answerOf(call) === 'images' && isBase64(call));
}

function isPlainText({ body }: SnippetCall): boolean {
  return body['response_format'] === 'text';
}

function isBase64({ body }: SnippetCall): boolean {
  return body['response_format'] === 'b64_json';
}

function keyOf(key: string): string {
  const variable = variableOf(key);
  return variable === null ? quote(key) : `process.env.${variable}`;
}

/** With single quotes if nothing in it has to be escaped. */
function quote(text: string): string {
  const isPlain = !/['\\\n\r\u2028\u2029]/.test(text) && !hasHidden(text);
  return isPlain ? `'${text}'` : quoted(text);
}

function lines(...all: readonly (string | false)[]): string {
  return all.filter((line) => line !== false).join('\n');
}
