/** Which program a service called `openai` is, as far as it names itself in its list. */
import { LLAMA_SWAP } from '../llama-swap/llama-swap.js';
import { SGLANG } from '../sglang/sglang.js';
import { VLLM } from '../vllm/vllm.js';
import { LLAMA_CPP_DROPS } from '../llama-cpp-drops.js';

const DROPS_OF_OWNER = new Map<string, readonly string[] | undefined>([
  ['vllm', VLLM.dropFields],
  ['sglang', SGLANG.dropFields],
  ['llamacpp', LLAMA_CPP_DROPS],
  ['llama-swap', LLAMA_SWAP.dropFields],
  // Docker Model Runner runs either of the two.
  ['docker', [...LLAMA_CPP_DROPS, ...(VLLM.dropFields ?? [])]],
]);

/** The fields that the dialects of these owners of models never pass on. */
export function dropsOf(owners: ReadonlySet<string>): readonly string[] {
  return [...owners].flatMap((owner) => DROPS_OF_OWNER.get(owner) ?? []);
}
