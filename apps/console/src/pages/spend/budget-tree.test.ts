import { expect, test } from 'vitest'
import { mayCount } from './budget-tree.ts'

const match = {
  agents: ['research-*'],
  actions: ['*'],
  resources: ['*'],
  users: ['*'],
  labels: { team: ['*'] },
}

test.each([
  ['research-a', { team: 'finance' }, true],
  ['other', { team: 'finance' }, false],
  // The server counts no agent without the label, whatever the pattern is.
  ['research-a', {}, false],
  ['research-a', { team: '' }, false],
])('%s with %j may spend: %s', (agent_id, labels, counts) => {
  expect(mayCount(match, { agent_id, labels })).toBe(counts)
})
