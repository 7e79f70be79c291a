/** What each error means and what to do about it, in the words of `docs/errors.md`. */
import type { ErrorCode } from '@inference-gateway/shared/errors';

interface Advice {
  readonly meaning: string;
  readonly todo: string;
}

export const ERROR_ADVICE: Readonly<Record<ErrorCode, Advice>> = {
  invalid_json: {
    meaning:
      'The body is not JSON, or not an object, or exceeds a limit: 10,000 names an object, ' +
      '300,000 values, 2,000,000 numbers, 64 levels.',
    todo: 'Send one JSON object with `content-type: application/json`.',
  },
  invalid_multipart: {
    meaning: 'The form could not be read, or ended early.',
    todo: 'Send `multipart/form-data` with its boundary; let the client library build it.',
  },
  missing_required_parameter: {
    meaning: 'A required field is absent; `param` names it.',
    todo: 'Add the field.',
  },
  invalid_type: {
    meaning: 'A field has the wrong JSON type.',
    todo: 'Send the type that the message names.',
  },
  invalid_value: {
    meaning: 'A field has the right type and a value that is not allowed.',
    todo: 'Use a value that the message allows.',
  },
  unsupported_value: {
    meaning:
      'The value is valid elsewhere but not supported here, for example an image given as an ' +
      '`https:` address.',
    todo: 'Send media as a `data:` URL, or use what the message names.',
  },
  async_not_supported: {
    meaning: '`async: true` on an endpoint that takes file uploads.',
    todo: 'Call it without `async`.',
  },
  context_length_exceeded: {
    meaning: "The prompt does not fit the model's context.",
    todo: 'Shorten it, or use a model with a larger `context_length`.',
  },
  provider_rejected: {
    meaning:
      'The model server refused the request itself, or failed with a message that its model ' +
      "cannot take it; the server's own message is kept.",
    todo: 'Change what the message names.',
  },
  unsupported_modality: {
    meaning:
      'No provider of the model accepts a part of the request, such as an image; `param` names ' +
      'the part. No GPU did any work for it.',
    todo: 'Leave it out, or choose a model whose `input_modalities` has it.',
  },
  authorization_pending: {
    meaning: 'A machine that logs in: its code has not been approved yet.',
    todo: 'Ask again after `interval` seconds.',
  },
  slow_down: {
    meaning: 'A machine that logs in asked too early.',
    todo: 'Wait 5 s longer between two requests from now on.',
  },
  expired_token: {
    meaning: 'The log-in of a machine has expired, or its device code is unknown.',
    todo: 'Log in again.',
  },
  access_denied: {
    meaning: 'The log-in of a machine was denied, or its token was already collected.',
    todo: 'Read the message; log in again, or ask the admin.',
  },
  missing_requests: {
    meaning: 'A batch has no `requests` array.',
    todo: 'Send 1 to 256 items in `requests`.',
  },
  empty_batch: {
    meaning: '`requests` is empty.',
    todo: 'Send at least one item.',
  },
  invalid_item: {
    meaning: 'An item is malformed; `param` says which. Nothing was created.',
    todo: 'Correct that item and send the batch again.',
  },
  batch_too_large: {
    meaning: 'More than 256 items.',
    todo: 'Split the batch.',
  },
  missing_api_key: {
    meaning: 'No `Authorization: Bearer` header.',
    todo: 'Send the key that `key create` printed.',
  },
  invalid_api_key: {
    meaning: 'The key is unknown, revoked, or cut off in copying.',
    todo: 'Check the whole key, or create a new one.',
  },
  expired_api_key: {
    meaning: 'The key has expired, or it has been rotated.',
    todo: 'Use the new key, or create one.',
  },
  disabled_api_key: {
    meaning: 'The key, or its member, has been disabled.',
    todo: 'Use another key, or ask the admin.',
  },
  expired_asset_link: {
    meaning: 'The link to a generated file has expired.',
    todo: 'Ask for a new one with your key, or set a longer GATEWAY_ASSETS_LINK_MINUTES.',
  },
  invalid_asset_link: {
    meaning: 'The link to a generated file is cut off or changed.',
    todo: 'Use the complete link from the answer, or send your key.',
  },
  not_logged_in: {
    meaning: 'The browser has no session in the dashboard, or the session has ended.',
    todo: 'Log in.',
  },
  not_set_up: {
    meaning: 'Nobody is a member of this gateway yet, so nobody can log in.',
    todo: 'Open the setup link that `start` printed; `setup-link` in the data folder has it, too.',
  },
  wrong_password: {
    meaning: 'Address and password do not match, or the current password is wrong.',
    todo: 'Check both; an admin can set another password.',
  },
  invalid_invite: {
    meaning: 'The invite is cut off, used, revoked or expired.',
    todo: 'Log in if you have joined; else ask the admin for another.',
  },
  invalid_setup_link: {
    meaning:
      'The setup link of a gateway without members is not the one that `start` printed last.',
    todo: 'Open that one; the file `setup-link` of the data folder has it, too.',
  },
  invalid_reset_link: {
    meaning: 'The link for a new password is cut off, used, replaced or older than an hour.',
    todo: 'Ask an admin for another.',
  },
  invalid_passkey: {
    meaning: 'The passkey is not known here, or its answer is wrong or late.',
    todo: 'Try again, or log in with your password.',
  },
  foreign_origin: {
    meaning: "A request to the dashboard's API that does not come from a page of the gateway.",
    todo: "Send the gateway's own `Origin`; the operator sets `GATEWAY_PUBLIC_URL`.",
  },
  owner_disabled: {
    meaning: 'A request of an agent whose owner is disabled.',
    todo: 'Ask the admin to enable them.',
  },
  not_allowed: {
    meaning:
      'Only admins, or the owner of a network, may do this; or the API key is for other endpoints.',
    todo: 'Ask one of them, or use another key.',
  },
  proof_required: {
    meaning: 'Ways to log in are changed after a log-in that is older than 10 minutes.',
    todo: 'Send the `password`, or log in again.',
  },
  model_not_found: {
    meaning: 'No provider that you may use has this model for this endpoint.',
    todo: 'Take an id from `GET /models`; the message names near ones.',
  },
  model_offline: {
    meaning:
      'The model is known, but none of its providers is online, or all of them are draining or ' +
      'paused.',
    todo: 'Start the agent that serves it, or use another model.',
  },
  no_provider: {
    meaning:
      'On a FAILED job: no provider has served its model for an hour, or for the time that the ' +
      'operator has set, or ever.',
    todo: 'Retry the job when `GET /models` lists the model.',
  },
  job_not_found: {
    meaning: 'No such job of yours.',
    todo: 'Check the id; finished jobs are removed after the retention time.',
  },
  batch_not_found: {
    meaning: 'No such batch of yours.',
    todo: 'Check the id.',
  },
  asset_not_found: {
    meaning: 'No such asset of yours.',
    todo: 'Check the address; assets are removed after the retention time.',
  },
  file_not_found: {
    meaning: 'No such file of yours.',
    todo: 'Check the id; files are removed after the retention time.',
  },
  network_not_found: {
    meaning: 'A request of an agent: its owner is not in a network of this name.',
    todo: 'Use a network that the message names, or have the owner added to this one.',
  },
  share_not_found: {
    meaning: 'A request of an agent: its provider has no share with that id.',
    todo: 'See `services list` on its machine.',
  },
  not_found: {
    meaning:
      'The page asked for an object that is unknown or belongs to another member; the two look ' +
      'the same.',
    todo: 'Load the page again.',
  },
  unknown_url: {
    meaning: 'No such address.',
    todo: "Set the client's base URL so that it ends in `/v1`.",
  },
  method_not_allowed: {
    meaning: 'The address exists, the method does not.',
    todo: 'Use a method that the `Allow` header names.',
  },
  job_not_retryable: {
    meaning: 'Retry of a job that is not FAILED or CANCELED.',
    todo: "Read the job's status; a finished job needs no retry.",
  },
  conflict: {
    meaning: "The page's request is not possible in the present state; the message says why.",
    todo: 'Follow the message.',
  },
  name_taken: {
    meaning:
      'The owner has another machine of this name; or, on joining, a member has the name or ' +
      'address.',
    todo: 'Choose another name; `--name` for a machine.',
  },
  file_too_large: {
    meaning: 'An uploaded file is larger than 25 MiB.',
    todo: 'Send a smaller or compressed file.',
  },
  body_too_large: {
    meaning: 'The body, or a text in it, is over a limit of the gateway or of the model server.',
    todo: 'Send less in one request.',
  },
  unsupported_file_type: {
    meaning: "The file's first bytes match no accepted format, or no decoder can read its content.",
    todo: 'Convert it to one that the message names.',
  },
  unsupported_content_type: {
    meaning: 'The body has a content type or encoding that this endpoint does not read.',
    todo: 'Send the one that the message names.',
  },
  rate_limit_exceeded: {
    meaning:
      'More requests than your limit allows in its window, or too many wrong passwords or invites.',
    todo: 'Wait `Retry-After` seconds; stock clients do.',
  },
  queue_full: {
    meaning: "You have reached a member's limit of queued jobs, or of their bytes.",
    todo: 'Wait until some have run.',
  },
  quota_exceeded: {
    meaning:
      'Your API key or your account has used up a limit of the day or the month (UTC): requests, ' +
      'tokens, images or seconds of audio. The message says which, how much, and until when.',
    todo: 'Wait until then, use another key, or ask for a higher limit. A job waits by itself.',
  },
  internal_error: {
    meaning: 'A fault of the coordinator.',
    todo: 'Report it with the `x-request-id`.',
  },
  provider_error: {
    meaning:
      'The model server failed, on every provider tried or after its answer had begun; or all ' +
      'providers are excluded after failures, until the time that the message and `Retry-After` ' +
      'name.',
    todo: "Read the message; look at the agent's log.",
  },
  provider_timeout: {
    meaning: 'The answer, or its next part, did not come in time.',
    todo: 'Stream the answer, ask for fewer tokens, or submit it as a job.',
  },
  provider_auth_failed: {
    meaning: "The model server refused the agent's own key for it.",
    todo: "The agent's owner corrects `api_key_file`.",
  },
  provider_disconnected: {
    meaning: "The agent's link was lost and no other provider serves the model.",
    todo: 'Try again; the agent reconnects by itself.',
  },
  max_retries_exhausted: {
    meaning:
      "On a FAILED job: every attempt failed; the message ends with the last attempt's error.",
    todo: 'Correct what the message names, then retry the job.',
  },
  async_disabled: {
    meaning: 'The operator has switched asynchronous jobs off.',
    todo: 'Call without `async`.',
  },
  capacity_exhausted: {
    meaning:
      'Every slot stayed busy for the whole wait, or too many large bodies are held at once.',
    todo: 'Try again after `Retry-After` seconds, or submit a job.',
  },
  shutting_down: {
    meaning: 'The coordinator is being restarted.',
    todo: 'Try again after `Retry-After` seconds.',
  },
  storage_unavailable: {
    meaning: 'The coordinator cannot write to its database, or use the place of its files.',
    todo: 'The operator frees disk space, or looks at the log.',
  },
  log_in_unavailable: {
    meaning: 'The OpenID provider does not answer.',
    todo: 'Try again, or log in another way.',
  },
  storage_full: {
    meaning: 'The space for generated files is used up.',
    todo: 'Delete assets, or the operator raises the limit.',
  },
};
