export { type CronRule, checkCron, findNextDue } from './cron.ts';
export { decideSchedule, type ScheduleDecision, type ScheduleState } from './decide-schedule.ts';
