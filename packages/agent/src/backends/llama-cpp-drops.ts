/**
 * What no caller may send to llama.cpp's server, nor to what has one behind it: a slot's number
 * would reach other callers' caches, an adapter changes the model for all, and with older versions
 * and forks the last sets the beginning of every other caller's prompt.
 */
export const LLAMA_CPP_DROPS = ['id_slot', 'slot_id', 'lora', 'system_prompt'];
