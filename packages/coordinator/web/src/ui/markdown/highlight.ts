/** Code in pieces with class names, for text nodes and spans. It is loaded with the first code. */
import { createLowlight } from 'lowlight';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import shell from 'highlight.js/lib/languages/shell';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

/** Text, or text with the names of what it is: `hljs-keyword`. */
export type Piece = string | { readonly names: string; readonly pieces: readonly Piece[] };

const LANGUAGES = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  python,
  rust,
  shell,
  sql,
  typescript,
  xml,
  yaml,
};

const lowlight = createLowlight(LANGUAGES);

type Nodes = ReturnType<typeof lowlight.highlight>['children'];

/** Null for languages without a grammar here. */
export function highlight(text: string, language: string): readonly Piece[] | null {
  const name = language.toLowerCase();
  return lowlight.registered(name) ? piecesOf(lowlight.highlight(name, text).children) : null;
}

function piecesOf(nodes: Nodes): readonly Piece[] {
  return nodes.flatMap((node): readonly Piece[] => {
    if (node.type === 'text') return [node.value];
    if (node.type !== 'element') return [];
    const { className } = node.properties;
    const names = Array.isArray(className) ? className.join(' ') : '';
    return [{ names, pieces: piecesOf(node.children) }];
  });
}
