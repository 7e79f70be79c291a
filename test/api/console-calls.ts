/** Commands as the console's pages send them. */
import type {
  AdminArgs,
  AdminName,
  AdminResult,
} from '@inference-gateway/coordinator/operations/operations';
import type {
  MyArgs,
  MyChange,
  MyName,
  MyRead,
  MyResult,
} from '@inference-gateway/coordinator/operations/my/commands';
import { failureOf } from './requests.js';
import type { Visitor } from './visitor.js';

export type Area = 'my' | 'admin';

export function ask(
  { fetch: send }: Visitor,
  [area, name]: readonly [Area, string],
  args: unknown = {},
): Promise<Response> {
  const query = encodeURIComponent(JSON.stringify(args));
  return send(`/api/console/v1/${area}/${name}?args=${query}`);
}

export function act(
  { fetch: send }: Visitor,
  [area, name]: readonly [Area, string],
  args: unknown = {},
): Promise<Response> {
  return send(`/api/console/v1/${area}/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(args),
  });
}

export async function readMy<Name extends MyRead>(
  visitor: Visitor,
  name: Name,
  args: MyArgs<Name>,
): Promise<MyResult<Name>> {
  return resultOf(await ask(visitor, ['my', name], args)) as Promise<MyResult<Name>>;
}

export async function my<Name extends MyChange>(
  visitor: Visitor,
  name: Name,
  args: MyArgs<Name>,
): Promise<MyResult<Name>> {
  return resultOf(await act(visitor, ['my', name], args)) as Promise<MyResult<Name>>;
}

export async function readAdmin<Name extends AdminName>(
  visitor: Visitor,
  name: Name,
  args: AdminArgs<Name>,
): Promise<AdminResult<Name>> {
  return resultOf(await ask(visitor, ['admin', name], args)) as Promise<AdminResult<Name>>;
}

/** The error of a change that must be refused. */
export async function refusal(visitor: Visitor, name: MyName, args: object) {
  const { status, code, message, param } = await failureOf(await act(visitor, ['my', name], args));
  return { status, code, message, param };
}

async function resultOf(response: Response): Promise<unknown> {
  if (response.status === 200) return response.json();
  throw new Error(`${response.url} is ${response.status}: ${await response.text()}`);
}
