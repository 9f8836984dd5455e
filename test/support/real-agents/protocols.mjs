/**
 * How the providers of models speak, as far as an agent needs it: what a request offers and tells, and
 * an answer as a stream of events. An answer is `{ say }` or `{ tool, input }`.
 */
const USAGE = { in: 100, out: 10 };

/** https://platform.claude.com/docs/en/api/messages-streaming */
const anthropic = {
  path: /^\/v1\/messages$/u,
  read: ({ tools = [], messages = [] }) => ({
    tools: tools.map(({ name }) => ({ name })),
    results: messages
      .flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(({ type }) => type === 'tool_result')
      .map(({ content }) => textOf(content)),
  }),
  stream({ say, tool, input }, { id, model }) {
    const isCall = tool !== undefined;
    const head = { id: `msg_${id}`, type: 'message', role: 'assistant', model, content: [] };
    const usage = { input_tokens: USAGE.in, output_tokens: USAGE.out };
    const block = isCall
      ? { type: 'tool_use', id: `toolu_${id}`, name: tool, input: {} }
      : { type: 'text', text: '' };
    const delta = isCall
      ? { type: 'input_json_delta', partial_json: JSON.stringify(input) }
      : { type: 'text_delta', text: say };
    const end = { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null };
    return [
      { type: 'message_start', message: { ...head, stop_reason: null, usage } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: end, usage },
      { type: 'message_stop' },
    ].map((event) => named(event));
  },
};

/** https://platform.openai.com/docs/api-reference/responses-streaming */
const responses = {
  path: /^\/v1\/responses$/u,
  read: ({ tools = [], input = [] }) => ({
    // What was searched for is offered by the result of the search.
    tools: [...tools, ...input.flatMap((item) => item.tools ?? [])].flatMap((tool) =>
      offeredBy(tool),
    ),
    results: input
      .filter(({ type }) => /_output$/u.test(type))
      .map((item) => textOf(item.output ?? item)),
  }),
  stream({ say, tool, input, offered }, { id, model }) {
    const head = { id: `resp_${id}`, object: 'response', created_at: 0, model };
    const item = this.item({ say, tool, input, offered }, id);
    const usage = {
      input_tokens: USAGE.in,
      output_tokens: USAGE.out,
      total_tokens: USAGE.in + USAGE.out,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    };
    const begun = { ...head, status: 'in_progress', output: [] };
    const done = { ...head, status: 'completed', output: [item], usage };
    return [
      { type: 'response.created', response: begun },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, ...emptied(item) } },
      ...deltas(item),
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: done },
    ].map((event, number) => named({ ...event, sequence_number: number }));
  },
  item({ say, tool, input, offered }, id) {
    if (tool === undefined) {
      const content = [{ type: 'output_text', text: say, annotations: [] }];
      return { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content };
    }
    const call = { id: `fc_${id}`, call_id: `call_${id}`, name: tool, status: 'completed' };
    if (offered?.isSearch === true) {
      return { ...call, type: 'tool_search_call', execution: 'client', arguments: input };
    }
    if (offered?.isText === true) return { ...call, type: 'custom_tool_call', input };
    const space = offered?.namespace === undefined ? {} : { namespace: offered.namespace };
    return { ...call, ...space, type: 'function_call', arguments: JSON.stringify(input) };
  },
};

function offeredBy({ type, name, tools }) {
  if (type === 'namespace') {
    return tools.map((tool) => ({ ...offeredBy(tool)[0], namespace: name }));
  }
  if (type === 'tool_search') return [{ name: type, isSearch: true }];
  return [{ name: name ?? type, isText: type === 'custom' }];
}

function emptied({ type }) {
  if (type === 'message') return { content: [] };
  if (type === 'tool_search_call') return {};
  return type === 'custom_tool_call' ? { input: '' } : { arguments: '' };
}

function deltas({ type, id, content, arguments: text, input }) {
  const at = { item_id: id, output_index: 0 };
  if (type === 'tool_search_call') return [];
  if (type === 'function_call') {
    return [
      { type: 'response.function_call_arguments.delta', ...at, delta: text },
      { type: 'response.function_call_arguments.done', ...at, arguments: text },
    ];
  }
  if (type === 'custom_tool_call') {
    return [
      { type: 'response.custom_tool_call_input.delta', ...at, delta: input },
      { type: 'response.custom_tool_call_input.done', ...at, input },
    ];
  }
  const [part] = content;
  const inPart = { ...at, content_index: 0 };
  return [
    { type: 'response.content_part.added', ...inPart, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...inPart, delta: part.text },
    { type: 'response.output_text.done', ...inPart, text: part.text },
    { type: 'response.content_part.done', ...inPart, part },
  ];
}

/** https://platform.openai.com/docs/api-reference/chat-streaming */
const chat = {
  path: /^\/v1\/chat\/completions$/u,
  read: ({ tools = [], messages = [] }) => ({
    tools: tools.map(({ function: { name } }) => ({ name })),
    results: messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content)),
  }),
  stream({ say, tool, input }, { id, model }) {
    const head = { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created: 0, model };
    const isCall = tool !== undefined;
    const call = { name: tool, arguments: JSON.stringify(input) };
    const delta = isCall
      ? { tool_calls: [{ index: 0, id: `call_${id}`, type: 'function', function: call }] }
      : { content: say };
    const chunk = (choice) => ({
      ...head,
      choices: [{ index: 0, finish_reason: null, ...choice }],
    });
    const usage = {
      prompt_tokens: USAGE.in,
      completion_tokens: USAGE.out,
      total_tokens: USAGE.in + USAGE.out,
    };
    return [
      chunk({ delta: { role: 'assistant', ...delta } }),
      chunk({ delta: {}, finish_reason: isCall ? 'tool_calls' : 'stop' }),
      { ...head, choices: [], usage },
    ]
      .map((event) => unnamed(event))
      .concat('data: [DONE]\n\n');
  },
};

/** https://ai.google.dev/api/generate-content */
const gemini = {
  path: /^\/v1beta\/models\/[^/]+:streamGenerateContent$/u,
  read: ({ tools = [], contents = [] }) => ({
    tools: tools
      .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
      .map(({ name }) => ({ name })),
    results: contents
      .flatMap(({ parts = [] }) => parts)
      .filter(({ functionResponse }) => functionResponse !== undefined)
      .map(({ functionResponse }) => JSON.stringify(functionResponse.response)),
  }),
  stream({ say, tool, input }, { model }) {
    const part = tool === undefined ? { text: say } : { functionCall: { name: tool, args: input } };
    const usageMetadata = {
      promptTokenCount: USAGE.in,
      candidatesTokenCount: USAGE.out,
      totalTokenCount: USAGE.in + USAGE.out,
    };
    const content = { role: 'model', parts: [part] };
    const candidates = [{ index: 0, content, finishReason: 'STOP' }];
    return [unnamed({ candidates, usageMetadata, modelVersion: model })];
  },
};

export const PROTOCOLS = { anthropic, responses, chat, gemini };

function named(event) {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function unnamed(event) {
  return `data: ${JSON.stringify(event)}\n\n`;
}

function textOf(content) {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content.map((part) => part.text ?? JSON.stringify(part)).join('\n');
}
