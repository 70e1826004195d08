import type { Job } from '../../src/threads/job.ts'

export const priorityJob = (priority: number): Job<null, number> => ({
  name: 'priority',
  run: (_, tell) => tell(priority),
})
