import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

/**
 * The Todo application of the AuthZEN interoperability events, with people and a policy of our own:
 * readers look, writers add and change what is theirs, a moderator removes anything, an editor in
 * chief changes anything.
 */
const READERS = ['rosa', 'tom']
const WRITERS = ['wim', 'yara']
const MODERATOR = 'mo'
const CHIEF = 'zoe'
const EVERYBODY = [...READERS, ...WRITERS, MODERATOR, CHIEF]
const MINE = 'has(resource.properties.owner) && resource.properties.owner == subject.id'

const RULES = [
  { agents: EVERYBODY, actions: ['can_read_user'], resources: ['user:*'] },
  { agents: EVERYBODY, actions: ['can_read_todos'] },
  { agents: [...WRITERS, MODERATOR, CHIEF], actions: ['can_create_todo'] },
  { agents: WRITERS, actions: ['can_update_todo', 'can_delete_todo'], condition: MINE },
  { agents: [MODERATOR], actions: ['can_delete_todo'] },
  { agents: [CHIEF], actions: ['can_update_todo'] },
]

// Of each: a user, the list, a new one, changing one's own and another's, removing the same two.
const COLUMNS = ['user', 'todos', 'new', 'own', "other's", 'own away', "other's away"] as const
const TABLE: Readonly<Record<string, string>> = {
  rosa: 'yyn nn nn',
  tom: 'yyn nn nn',
  wim: 'yyy yn yn',
  yara: 'yyy yn yn',
  mo: 'yyy nn yy',
  zoe: 'yyy yy nn',
  stranger: 'nnn nn nn',
}

const todo = (owner?: string) => ({
  type: 'todo',
  id: '7240d0db',
  ...(owner !== undefined && { properties: { owner } }),
})

/** The seven questions of a row. */
const questions = (id: string) => {
  const subject = { type: 'user', id }
  const other = id === 'wim' ? 'yara' : 'wim'
  return [
    { subject, action: { name: 'can_read_user' }, resource: { type: 'user', id: 'tom' } },
    { subject, action: { name: 'can_read_todos' }, resource: todo() },
    { subject, action: { name: 'can_create_todo' }, resource: todo() },
    { subject, action: { name: 'can_update_todo' }, resource: todo(id) },
    { subject, action: { name: 'can_update_todo' }, resource: todo(other) },
    { subject, action: { name: 'can_delete_todo' }, resource: todo(id) },
    { subject, action: { name: 'can_delete_todo' }, resource: todo(other) },
  ]
}

const CASES = Object.entries(TABLE).flatMap(([who, row]) =>
  row
    .replaceAll(' ', '')
    .split('')
    .map((answer, i) => ({
      who,
      what: COLUMNS[i],
      body: questions(who)[i] ?? {},
      decision: answer === 'y',
    })),
)

describe('the Todo application', () => {
  let api: Api
  beforeAll(async () => {
    api = await createApi()
    await api.ok('changeOrganization', { body: { settings: { default_effect: 'deny' } } })
    for (const rule of RULES) {
      const body = { effect: 'allow', resources: ['todo:*'], ...rule }
      await api.ok('createPolicy', { body })
    }
  })
  afterAll(() => api.remit.close())

  it.each(CASES)('$who, $what: $decision', async ({ body, decision }) => {
    expect((await api.ok('accessEvaluation', { body })).decision).toBe(decision)
  })

  it.each(Object.keys(TABLE))('%s, all at once: the same', async (who) => {
    const subject = { type: 'user', id: who }
    const evaluations = questions(who).map(({ action, resource }) => ({ action, resource }))

    const answer = await api.ok('accessEvaluations', { body: { subject, evaluations } })

    const expected = CASES.filter((one) => one.who === who).map(({ decision }) => decision)
    const given = 'evaluations' in answer ? answer.evaluations : []
    expect(given.map(({ decision }) => decision)).toEqual(expected)
  })

  it('an agent that acts for somebody is asked about by its own name', async () => {
    const body = { ...questions('wim')[3], context: { agent: 'robot' } }

    expect((await api.ok('accessEvaluation', { body })).decision).toBe(false)
    await api.ok('createPolicy', {
      body: { effect: 'allow', agents: ['robot'], resources: ['todo:*'], condition: MINE },
    })
    expect((await api.ok('accessEvaluation', { body })).decision).toBe(true)
  })
})
