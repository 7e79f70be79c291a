import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { answerOf, fieldsOf, fileNameOf, formFieldsOf, urlOf, variableOf } from './call.js';
import type { SnippetCall } from './call.js';
import { hasHidden, printed } from './hidden.js';
import { JSON_TEXT, literal } from './literal.js';

export function curlSnippet(call: SnippetCall): string {
  const { body } = ENDPOINTS[call.endpoint];
  const isQuery = body === 'query';
  const head = `curl ${isQuery ? '--get ' : ''}${quote(urlOf(call))}`;
  const options = [...answerOptions(call), authorization(call.key), ...payload(call)];
  return [head, ...options.map((option) => `  ${option}`)].join(' \\\n');
}

/** A stream is printed as it arrives; an error answer is not saved as the file. */
function answerOptions(call: SnippetCall): readonly string[] {
  switch (answerOf(call)) {
    case 'stream':
      return ['--no-buffer'];
    case 'file':
      return [`--fail --show-error --output ${quote(fileNameOf(call))}`];
    case 'text':
    case 'images':
    case 'json':
      return [];
  }
}

/** In double quotes, so that the shell expands the variable. */
function authorization(key: string): string {
  const written = variableOf(key) === null ? key.replaceAll(/[\\"$`]/g, '\\$&') : key;
  return `--header "Authorization: Bearer ${written}"`;
}

function payload(call: SnippetCall): readonly string[] {
  switch (ENDPOINTS[call.endpoint].body) {
    case 'json': {
      const json = literal(Object.fromEntries(fieldsOf(call)), JSON_TEXT, 1);
      return [`--header 'Content-Type: application/json'`, `--data ${quote(json)}`];
    }
    case 'multipart':
      return [
        ...(call.files ?? []).map(
          ({ field, name }) => `--form ${quote(`${field}=@${pathOf(name)}`)}`,
        ),
        // Unlike --form, it does not interpret a leading @ or <.
        ...formFieldsOf(call).map(([name, text]) => `--form-string ${quote(`${name}=${text}`)}`),
      ];
    case 'query':
      return fieldsOf(call).map(
        ([name, value]) => `--data-urlencode ${quote(`${name}=${String(value)}`)}`,
      );
  }
}

/** Quotes names with characters that curl interprets, such as a comma, which separates files. */
function pathOf(name: string): string {
  return /[,;"\\]/.test(name) ? `"${name.replaceAll(/["\\]/g, '\\$&')}"` : name;
}

/** Quotes the text as one word of a POSIX shell. */
function quote(text: string): string {
  if (hasHidden(text)) return printed(text);
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
