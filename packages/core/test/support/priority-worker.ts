/* A thread that tells its own priority. */
import { getPriority } from 'node:os'
import { serveJobs } from '../../src/threads/serve-jobs.ts'
import { priorityJob } from './priority-job.ts'

serveJobs([priorityJob(getPriority())])
