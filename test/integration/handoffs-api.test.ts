// The Handoffs API as its clients see it: every documented request and error, field by field.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectProblem } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'
import {
  ask,
  create,
  example,
  list,
  MEMBERS,
  openHandoffsApi,
  patch,
  read,
} from './handoffs-api-fixture.ts'
import type { Message } from './handoffs-api-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openHandoffsApi()
})
afterAll(() => fixture.close())

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/
const post = (body: unknown, headers: Record<string, string> = {}) =>
  ask(fixture.gateway, { method: 'POST', body, headers })

describe('POST /api/handoffs', () => {
  it('R05 R06 R08 answers 201 with the 17 members of the message, as the source shows it', async () => {
    const sourceTaskId = 'task-9d4e-a1b2'
    const response = await post(example({ sourceTaskId, requiresApproval: true }))
    expect(response.statusCode).toBe(201)
    expect(response.headers['content-type']).toMatch(/^application\/json/)
    const message = response.json<Message>()
    expect(Object.keys(message)).toEqual(MEMBERS)
    expect(message).toEqual({
      id: expect.stringMatching(UUID),
      fromProfileId: 'analyst-agent',
      toProfileId: 'reviewer-agent',
      taskId: sourceTaskId,
      targetTaskId: null,
      subject: 'Q4 revenue analysis ready for review',
      body: 'Analysis is complete with 3 charts and an executive summary. Please verify the methodology and sign off.',
      attachments: null,
      priority: 1,
      status: 'pending',
      requiresApproval: true,
      approvedBy: null,
      parentMessageId: null,
      chainDepth: 0,
      createdAt: expect.stringMatching(SECONDS),
      respondedAt: null,
      expiresAt: expect.stringMatching(SECONDS),
    })
    expect(response.headers['location']).toBe(`/api/handoffs/${message.id}`)
    expect(await read(fixture.gateway, message.id)).toEqual(message)
  })

  it('R05 R06 R16 fills in the defaults: priority 2, no approval, a day to live', async () => {
    const { priority: _, ...least } = example()
    const message = (await post(least)).json<Message>()
    expect(message).toMatchObject({
      priority: 2,
      requiresApproval: false,
      status: 'pending',
      parentMessageId: null,
      chainDepth: 0,
    })
    const lifetime = Date.parse(String(message.expiresAt)) - Date.parse(String(message.createdAt))
    expect(Math.abs(lifetime - 86_400_000)).toBeLessThanOrEqual(1_000)
  })

  it('R08 begins a task where no source task is named, and shows it', async () => {
    const message = await create(fixture.gateway)
    const { taskId } = (await ask(fixture.gateway, { url: `/v2/handoffs/${message.id}` })).json()
    expect(message.taskId).toBe(taskId)
  })

  it('R08 keeps the id of a source task, whatever its form', async () => {
    for (const sourceTaskId of ['task-9d4e', randomUUID(), randomUUID().toUpperCase(), 'ü 1/2']) {
      const message = await create(fixture.gateway, { sourceTaskId })
      expect(message.taskId).toBe(sourceTaskId)
    }
    const sourceTaskId = randomUUID()
    const { id } = await create(fixture.gateway, { sourceTaskId })
    const handoff = (await ask(fixture.gateway, { url: `/v2/handoffs/${id}` })).json()
    expect(handoff.taskId).toBe(sourceTaskId)
  })

  it('R08 begins a task once, whoever names it at the same moment, and shows it to all', async () => {
    const sourceTaskId = randomUUID()
    const messages = await Promise.all(
      Array.from({ length: 20 }, () => create(fixture.gateway, { sourceTaskId })),
    )
    expect(new Set(messages.map(({ taskId }) => taskId))).toEqual(new Set([sourceTaskId]))
    const { rows } = await fixture.pool.query({
      text: `select count(distinct task_id)::int as tasks,
               (count(*) filter (where task_id = $2))::int as named from handoff where id = any($1)`,
      values: [messages.map(({ id }) => id), sourceTaskId],
    })
    expect(rows).toEqual([{ tasks: 20, named: 1 }])
  })

  it('R05 trims texts and takes null for nothing', async () => {
    const message = await create(fixture.gateway, {
      fromProfileId: ' analyst-agent ',
      subject: '  subject\n',
      body: '\tbody ',
      sourceTaskId: null,
      priority: null,
      requiresApproval: null,
      parentMessageId: ' ',
    })
    expect(message).toMatchObject({
      fromProfileId: 'analyst-agent',
      subject: 'subject',
      body: 'body',
      priority: 2,
      requiresApproval: false,
      parentMessageId: null,
    })
  })

  it('R05 takes 200 characters of subject and 4,000 of body, counted as people count', async () => {
    const longest = { subject: '😀'.repeat(200), body: 'ä'.repeat(4_000) }
    expect(await create(fixture.gateway, longest)).toMatchObject(longest)
  })
})

const without = (name: string) => {
  const { [name]: _, ...rest } = example() as Record<string, unknown>
  return rest
}
const long = 'x'.repeat(5_000)

/** A body, what is wrong with it in the API's words, and the code beside it. */
const REFUSED: readonly (readonly [rows: string, body: unknown, error: string, code?: string])[] = [
  ['R09', without('fromProfileId'), 'fromProfileId is required'],
  ['R09', without('toProfileId'), 'toProfileId is required'],
  ['R09', without('subject'), 'subject is required'],
  ['R09', without('body'), 'body is required'],
  ['R09', {}, 'fromProfileId is required'],
  ['R09', { body: 'x', priority: 9 }, 'fromProfileId is required'],
  ['R09', example({ subject: '  ' }), 'subject is required'],
  ['R09', example({ body: null }), 'body is required'],
  ['R09', example({ subject: 5 }), 'subject must be a string'],
  ['R09', example({ subject: long.slice(0, 201) }), 'subject must be at most 200 characters'],
  ['R09', example({ body: long.slice(0, 4_001) }), 'body must be at most 4000 characters'],
  ['R09', example({ body: 'a\0b' }), 'body must not contain control characters'],
  ['R09', example({ sourceTaskId: 'a\nb' }), 'sourceTaskId must not contain control characters'],
  ['R09', example({ requiresApproval: 'yes' }), 'requiresApproval must be a boolean'],
  [
    'R09',
    example({ dataSubjects: ['a@b.example'] }),
    'dataSubjects must be a list of different ids',
  ],
  ['R09', example({ dataSubjects: ['a', 'a'] }), 'dataSubjects must be a list of different ids'],
  ['R09', example({ attachements: '{}' }), 'the body has a field that is not known here'],
  ['R09', [], 'the body must be a JSON object'],
  ['R09', 'null', 'the body must be a JSON object'],
  ...[9, -1, 1.5, '1', true].map(
    (priority) =>
      ['R17', example({ priority }), 'priority must be an integer from 0 to 3'] as const,
  ),
  [
    'R11',
    example({ toProfileId: ' analyst-agent' }),
    'Cannot hand off to the same profile (no self-handoff)',
    'BATON_SELF_HANDOFF',
  ],
  [
    'R11 R12',
    example({ fromProfileId: 'nobody', toProfileId: 'nobody' }),
    'Cannot hand off to the same profile (no self-handoff)',
    'BATON_SELF_HANDOFF',
  ],
  [
    'R12',
    example({ fromProfileId: 'ghost', toProfileId: 'nobody' }),
    'Source profile not found: ghost',
    'BATON_PROFILE_UNKNOWN',
  ],
  [
    'R12',
    example({ toProfileId: 'nobody' }),
    'Target profile not found: nobody',
    'BATON_PROFILE_UNKNOWN',
  ],
  [
    'R17',
    example({ parentMessageId: 'hoff-c7a1-b3d4' }),
    'Parent message not found: hoff-c7a1-b3d4',
    'BATON_PARENT_UNKNOWN',
  ],
  [
    'R09',
    example({ toProfileId: 'choosy' }),
    'Profile choosy does not accept handoffs from analyst-agent',
    'BATON_PROFILE_POLICY',
  ],
  [
    'R09',
    example({ toProfileId: 'closed' }),
    'Profile closed does not accept handoffs from analyst-agent',
    'BATON_PROFILE_POLICY',
  ],
]

describe('what POST /api/handoffs refuses', () => {
  it.each(REFUSED)(
    'R09 R11 R12 R17 (%s) %j: %s',
    async (_rows, body, error, code = 'BATON_REQUEST_INVALID') => {
      const response = await post(body)
      expect(response.statusCode).toBe(400)
      expectProblem(response)
      expect(response.json()).toMatchObject({ error, detail: error, code })
    },
  )

  it('R09 refuses in the media type that the client reads', async () => {
    const problem = 'application/problem+json'
    for (const [accept, type] of [
      ['*/*', problem],
      ['application/json', 'application/json'],
      ['application/json, text/plain, */*', 'application/json'],
      [`${problem}, application/json`, problem],
    ] as const) {
      const response = await post({}, { accept })
      expect(response.headers['content-type']).toBe(type)
      expect(response.json().error).toBe('fromProfileId is required')
    }
  })

  it('R17 refuses what is no JSON with 400, and says where', async () => {
    for (const body of ['{', '{"subject": }', '{"a":1,"a":2}', Buffer.from([0xff]), '']) {
      const response = await post(body)
      expect(response.statusCode).toBe(400)
      expectProblem(response)
      expect(response.json()).toMatchObject({
        code: 'BATON_JSON_INVALID',
        error: expect.stringMatching(/\S/),
      })
    }
  })

  it('R10 takes a chain of five messages and refuses the sixth', async () => {
    let parentMessageId: string | null = null
    const ends = ['analyst-agent', 'reviewer-agent']
    for (let depth = 0; depth < 5; depth += 1) {
      const [fromProfileId, toProfileId] = depth % 2 === 0 ? ends : ends.toReversed()
      const message: Message = await create(fixture.gateway, {
        parentMessageId,
        fromProfileId,
        toProfileId,
      })
      expect(message).toMatchObject({ chainDepth: depth, parentMessageId })
      parentMessageId = message.id
    }
    const response = await post(example({ parentMessageId }))
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({
      error: 'Chain depth limit reached (max 5). Cannot create further handoffs in this chain.',
      code: 'BATON_CHAIN_DEPTH',
      pointer: '/parentMessageId',
    })
  })
})

describe('GET /api/handoffs', () => {
  it('R01 R02 R03 R04 lists the newest first, by status and recipient, alone and together', async () => {
    const own = await openHandoffsApi()
    const { gateway } = own
    const first = await create(gateway, { requiresApproval: true })
    const second = await create(gateway)
    const third = await create(gateway, { toProfileId: 'second-reviewer', requiresApproval: true })
    const ids = async (query: string) => (await list(gateway, query)).map(({ id }) => id)
    expect(await list(gateway)).toEqual([third, second, first])
    expect(await ids('?profileId=reviewer-agent')).toEqual([second.id, first.id])
    expect(await ids('?profileId=nobody')).toEqual([])
    await patch(gateway, first.id, { action: 'approve' })
    await patch(gateway, third.id, { action: 'reject' })
    expect(await ids('?status=pending')).toEqual([second.id])
    expect(await ids('?status=accepted')).toEqual([first.id])
    expect(await ids('?status=rejected')).toEqual([third.id])
    expect(await ids('?status=accepted&profileId=reviewer-agent')).toEqual([first.id])
    expect(await ids('?status=rejected&profileId=reviewer-agent')).toEqual([])
    for (const status of ['in_progress', 'completed', 'expired'])
      expect(await ids(`?status=${status}`)).toEqual([])
    await own.close()
  })

  it('R01 lists a hundred at most', async () => {
    const own = await openHandoffsApi()
    const { gateway } = own
    const sent: string[] = []
    for (let count = 0; count < 103; count += 1) sent.push((await create(gateway)).id)
    expect((await list(gateway)).map(({ id }) => id)).toEqual(sent.toReversed().slice(0, 100))
    await own.close()
  })

  it('R17 refuses filters that there are not', async () => {
    for (const [query, error] of [
      [
        '?status=done',
        'status must be one of pending, accepted, in_progress, completed, rejected, expired',
      ],
      [
        '?status=',
        'status must be one of pending, accepted, in_progress, completed, rejected, expired',
      ],
      [
        '?status=pending&status=expired',
        'status must be one of pending, accepted, in_progress, completed, rejected, expired',
      ],
      ['?profileId=', 'profileId must be one text of 1 to 256 characters'],
      ['?profileId=%00', 'profileId must be one text of 1 to 256 characters'],
      ['?profile=a', 'this path takes no query parameter profile'],
      ['?limit=5', 'this path takes no query parameter limit'],
    ]) {
      const response = await ask(fixture.gateway, { url: `/api/handoffs${query}` })
      expect(response.statusCode).toBe(400)
      expectProblem(response)
      expect(response.json()).toMatchObject({ error, detail: error })
    }
  })

  it('lists what a profile was sent and has sent', async () => {
    const own = await openHandoffsApi()
    const { gateway } = own
    const there = await create(gateway, { requiresApproval: true })
    const back = await create(gateway, {
      fromProfileId: 'reviewer-agent',
      toProfileId: 'analyst-agent',
    })
    const box = async (path: string) =>
      (await ask(gateway, { url: `/api/profiles/${path}` })).json<Message[]>()
    expect(await box('reviewer-agent/handoffs/inbox')).toEqual([there])
    expect(await box('reviewer-agent/handoffs/sent')).toEqual([back])
    expect(await box('reviewer-agent/handoffs/inbox?status=accepted')).toEqual([])
    expect(await box('guarded/handoffs/inbox')).toEqual([])
    for (const nobody of ['nobody', '%00']) {
      const unknown = await ask(gateway, { url: `/api/profiles/${nobody}/handoffs/inbox` })
      expect(unknown.statusCode).toBe(404)
      expect(unknown.json()).toMatchObject({ error: 'Profile not found' })
    }
    await own.close()
  })
})

describe('one message', () => {
  it('R14 is read by its id; another id is 404', async () => {
    const message = await create(fixture.gateway)
    expect(await read(fixture.gateway, message.id.toUpperCase())).toEqual(message)
    const ofV2 = (await ask(fixture.gateway, { url: '/v2/handoffs/x' })).statusCode
    expect(ofV2).toBe(400)
    for (const id of ['hoff-c7a1-b3d4', randomUUID(), '%00', message.taskId]) {
      const response = await ask(fixture.gateway, { url: `/api/handoffs/${id}` })
      expect(response.statusCode).toBe(404)
      expectProblem(response)
      expect(response.json()).toMatchObject({ error: 'Handoff not found' })
    }
  })

  it('R13 R15 stays pending until it is approved, and then names who was given', async () => {
    const { id } = await create(fixture.gateway, { requiresApproval: true })
    const waiting = (await ask(fixture.gateway, { url: `/v2/handoffs/${id}` })).json()
    expect(waiting.state).toBe('AWAITING_APPROVAL')
    const response = await patch(fixture.gateway, id, { action: 'approve', approvedBy: ' Ann ' })
    expect(response.statusCode).toBe(200)
    const decided = response.json<Message>()
    expect(Object.keys(decided)).toEqual(MEMBERS)
    expect(decided).toMatchObject({
      id,
      status: 'accepted',
      requiresApproval: true,
      approvedBy: 'Ann',
      respondedAt: expect.stringMatching(SECONDS),
    })
    expect(await read(fixture.gateway, id)).toEqual(decided)
    const recorded = (await ask(fixture.gateway, { url: `/v2/handoffs/${id}` })).json()
    expect(recorded.approval).toEqual({ decision: 'approve', decidedBy: 'ann' })
  })

  it('R15 is rejected by "user" where no name is given', async () => {
    const { id } = await create(fixture.gateway, { requiresApproval: true })
    const decided = (await patch(fixture.gateway, id, { action: 'reject' })).json<Message>()
    expect(decided).toMatchObject({
      id,
      status: 'rejected',
      approvedBy: 'user',
      respondedAt: expect.stringMatching(SECONDS),
      attachments: null,
    })
    expect(await read(fixture.gateway, id)).toEqual(decided)
  })

  it('R15 refuses decisions that are none, of nothing, and of what does not wait', async () => {
    const waiting = await create(fixture.gateway, { requiresApproval: true })
    const free = await create(fixture.gateway)
    const refusals: readonly (readonly [
      id: string,
      body: unknown,
      status: number,
      error: string,
    ])[] = [
      [randomUUID(), { action: 'nonsense' }, 404, 'Handoff not found'],
      [waiting.id, { action: 'nonsense' }, 400, 'action must be approve or reject'],
      [waiting.id, {}, 400, 'action must be approve or reject'],
      [waiting.id, [], 400, 'the body must be a JSON object'],
      [waiting.id, { action: 'approve', approvedBy: 7 }, 400, 'approvedBy must be a string'],
      [
        waiting.id,
        { action: 'approve', by: 'x' },
        400,
        'the body has a field that is not known here',
      ],
      [free.id, { action: 'approve' }, 409, 'Cannot approve a handoff with status: pending'],
    ]
    const check = async (id: string, body: unknown, [status, error]: [number, string]) => {
      const response = await patch(fixture.gateway, id, body)
      expect([response.statusCode, response.json().error]).toEqual([status, error])
      expectProblem(response)
    }
    for (const [id, body, status, error] of refusals) await check(id, body, [status, error])
    expect((await patch(fixture.gateway, waiting.id, { action: 'approve' })).statusCode).toBe(200)
    await check(waiting.id, { action: 'reject' }, [
      409,
      'Cannot reject a handoff with status: accepted',
    ])
    await check(waiting.id, { action: 'approve' }, [
      409,
      'Cannot approve a handoff with status: accepted',
    ])
  })

  it('R15 is decided once of a hundred times at once, whoever asks', async () => {
    const { id } = await create(fixture.gateway, { requiresApproval: true })
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        patch(fixture.gateway, id, {
          action: index % 2 === 0 ? 'approve' : 'reject',
          approvedBy: `person ${index}`,
        }),
      ),
    )
    const made = answers.filter(({ statusCode }) => statusCode === 200)
    expect(made).toHaveLength(1)
    expect(answers.filter(({ statusCode }) => statusCode === 409)).toHaveLength(99)
    expect(await read(fixture.gateway, id)).toEqual(made[0]?.json())
  })
})

describe('policies of profiles', () => {
  it('R13 hold what comes from whom they name, although the message does not ask for it', async () => {
    const message = await create(fixture.gateway, { toProfileId: 'guarded' })
    expect(message).toMatchObject({ requiresApproval: true, status: 'pending' })
    expect((await patch(fixture.gateway, message.id, { action: 'approve' })).statusCode).toBe(200)
  })

  it('take messages from whom they name', async () => {
    const message = await create(fixture.gateway, {
      fromProfileId: 'reviewer-agent',
      toProfileId: 'choosy',
    })
    expect(message.status).toBe('pending')
  })
})

it('R06 is described by /openapi.json, every status that it answers included', async () => {
  const document = (await ask(fixture.gateway, { url: '/openapi.json' })).json()
  const { HandoffsApiMessage: message, HandoffsApiProblem: problem } = document.components.schemas
  expect(message.required).toEqual(MEMBERS)
  expect(Object.keys(message.properties)).toEqual(MEMBERS)
  expect(problem.required).toContain('error')
  const statuses = (path: string, method: string) =>
    Object.keys(document.paths[path][method].responses)
  expect(statuses('/api/handoffs', 'post')).toEqual(
    expect.arrayContaining(['201', '400', '401', '403', '409', '413', '415', '422', '429', '503']),
  )
  expect(statuses('/api/handoffs/{id}', 'patch')).toEqual(
    expect.arrayContaining(['200', '400', '404', '409']),
  )
  expect(statuses('/api/handoffs', 'get')).toEqual(expect.arrayContaining(['200', '400']))
})

it('answers what the server refuses in the same form', async () => {
  for (const [asking, status] of [
    [{ url: '/api/nowhere' }, 404],
    [{ method: 'DELETE', url: '/api/handoffs' }, 405],
    [{ method: 'POST', body: 'x=1', headers: { 'content-type': 'text/plain' } }, 415],
    [{ method: 'POST', body: 'x'.repeat(2_000_000) }, 413],
    [{ headers: { authorization: '' } }, 401],
    [{ method: 'POST', body: example(), headers: { 'idempotency-key': '""' } }, 400],
  ] as const) {
    const response = await ask(fixture.gateway, asking)
    expect(response.statusCode).toBe(status)
    expectProblem(response)
    const { error, detail } = response.json()
    expect(error).toBe(detail)
  }
})
