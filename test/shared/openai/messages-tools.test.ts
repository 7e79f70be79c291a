/** The tools that a request offers, and the choice among them. */
import { ApiError } from '@inference-gateway/shared/errors';
import { MESSAGES } from '@inference-gateway/shared/openai/messages/translation';
import { describe, expect, test } from 'vitest';

const BASE = { model: 'm', max_tokens: 64, messages: [{ role: 'user', content: 'hi' }] };

const translated = (fields: object) => MESSAGES.toChat({ ...BASE, ...fields });
const chatOf = (fields: object) => translated(fields).chat;

function faultOf(fields: object): ApiError {
  try {
    translated(fields);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('tools', () => {
  const read = {
    name: 'read',
    description: 'reads',
    input_schema: { type: 'object', properties: { URL: { type: 'string' } } },
    cache_control: { type: 'ephemeral' },
    input_examples: [{ URL: 'x' }],
  };
  const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 5 };
  const readFunction = {
    type: 'function',
    function: { name: 'read', description: 'reads', parameters: read.input_schema },
  };

  test('with a schema are functions', () => {
    const { chat, ignoredTools } = translated({ tools: [read, { ...read, type: 'custom' }] });
    expect(chat['tools']).toEqual([readFunction]);
    expect(ignoredTools).toEqual([]);
  });

  test('may be strict', () => {
    const { tools } = chatOf({ tools: [{ name: 'a', input_schema: {}, strict: true }] });
    expect(tools).toEqual([
      { type: 'function', function: { name: 'a', parameters: {}, strict: true } },
    ]);
  });

  test.each([
    [search, 'web_search'],
    [{ type: 'computer_20250124', name: 'computer', display_width_px: 1 }, 'computer'],
    [{ type: 'bash_20250124', name: 'bash' }, 'bash'],
    [
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
      'str_replace_based_edit_tool',
    ],
    [{ type: 'mcp_toolset', mcp_server_name: 'x' }, 'mcp_toolset'],
  ])('that the gateway cannot run are left out and named: %j', (tool, name) => {
    const { chat, ignoredTools } = translated({ tools: [tool, read] });
    expect(chat['tools']).toEqual([readFunction]);
    expect(ignoredTools).toEqual([name]);
    // A server refuses an empty list, and a choice without tools.
    const alone = translated({ tools: [tool], tool_choice: { type: 'auto' } });
    expect(alone.chat).toEqual(BASE);
    expect(alone.ignoredTools).toEqual([name]);
  });

  test.each([
    [{ type: 'auto' }, { tool_choice: 'auto' }],
    [{ type: 'any' }, { tool_choice: 'required' }],
    [{ type: 'none' }, { tool_choice: 'none' }],
    [null, {}],
    [
      { type: 'tool', name: 'read' },
      { tool_choice: { type: 'function', function: { name: 'read' } } },
    ],
    [
      { type: 'auto', disable_parallel_tool_use: true },
      { tool_choice: 'auto', parallel_tool_calls: false },
    ],
    [{ type: 'any', disable_parallel_tool_use: false }, { tool_choice: 'required' }],
  ])('are chosen as asked: %j', (choice, chosen) => {
    const { chat } = translated({ tools: [read], tool_choice: choice });
    expect(chat).toEqual({ ...BASE, tools: [readFunction], ...chosen });
  });

  test.each([
    [{ type: 'tool', name: 'web_search' }, [search, read], 'tool_choice.name'],
    [{ type: 'tool', name: 'nothing' }, [read], 'tool_choice.name'],
    [{ type: 'tool' }, [read], 'tool_choice.name'],
    [{ type: 'any' }, [search], 'tool_choice.type'],
    [{ type: 'any' }, undefined, 'tool_choice.type'],
    [{ type: 'maybe' }, [read], 'tool_choice.type'],
    ['auto', [read], 'tool_choice'],
  ])('that are not there cannot be forced: %j', (choice, tools, param) => {
    expect(faultOf({ tools, tool_choice: choice })).toMatchObject({ status: 400, param });
  });
});
