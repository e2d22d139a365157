"""Recordings of a program with several threads, and those that threads and signal handlers end."""

import unittest

from recorded import Recorded


class Threads(Recorded):
    def test_threads(self):
        self.run_program("""
            def work(name):
                for _ in range(100):
                    with annotate(name): pass
            with lanescope.record("x.trace", trace="nvtx", **QUIET):
                threads = [threading.Thread(target=work, args=[f"thread {number}"]) for number in range(4)]
                for thread in threads: thread.start()
                for thread in threads: thread.join()
        """)
        names = self.ranges()
        self.assertEqual([names.count(f"thread {number}") for number in range(4)], [100] * 4)

    def test_threads_that_stop_it_at_once_all_wait_until_it_is_over(self):
        output, _ = self.run_program("""
            recording = lanescope.start("x.trace", trace="nvtx", **QUIET)
            with annotate("work"): pass
            def stop():
                recording.stop()
                paths.append(recording.path)
            paths = []
            threads = [threading.Thread(target=stop) for _ in range(8)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            print(len(paths))
        """)
        self.assertEqual(output.strip(), "8")
        self.assertEqual(self.ranges(), ["work"])

    def test_no_thread_can_be_started(self):
        output, _ = self.run_program("""
            start = threading.Thread.start
            def refuse(thread): raise RuntimeError("can't start new thread")
            threading.Thread.start = refuse
            try:
                lanescope.start("x.trace", trace="nvtx", **QUIET)
            except lanescope.RecordingError as error:
                print(error)
            threading.Thread.start = start
            with lanescope.record("x.trace", trace="nvtx", force=True, **QUIET):
                with annotate("work"): pass
        """)
        self.assertIn("No thread can be started", output)
        self.assertEqual(self.ranges(), ["work"])

    def test_a_handler_of_a_signal_may_stop_what_is_just_beginning(self):
        self.run_program("""
            import signal
            signal.signal(signal.SIGALRM, lambda *_: lanescope.stop() if lanescope._recording._current else None)
            for delay in (0.001, 0.01, 0.03, 0.1):
                signal.setitimer(signal.ITIMER_REAL, delay, 0.05)  # again and again, where it came too early
                lanescope.start("x%n.trace", trace="nvtx", **QUIET)
                while lanescope._recording._current: time.sleep(0.005)
                signal.setitimer(signal.ITIMER_REAL, 0)
            with lanescope.record("last.trace", trace="nvtx", **QUIET):
                with annotate("work"): pass
        """)
        self.assertEqual(self.ranges("last.trace"), ["work"])

    def test_whoever_reads_what_a_recorder_says_keeps_no_descriptors_where_others_have_closed_it(self):
        self.run_program("""
            from lanescope import _descriptors
            descriptors = lambda: [each for each in range(1024) if os.path.exists(f"/proc/self/fd/{each}")]
            with lanescope.record("x.trace", trace="nvtx", **QUIET) as recording:
                closed = _descriptors.make(sockets=0, pipes=1)
                for each in closed: each.close()
                before = descriptors()
                recording._recorder._read(*closed)
                assert descriptors() == before, (before, descriptors())
        """)

    def test_a_ctrl_c_while_it_begins_or_ends_leaves_no_recorder(self):
        places = ("subprocess.Popen", "Recorder._await_first_word", "Recorder._hang_bell", "Agent.join", "Recorder._listen_anew")
        self.run_program(f"""
            import signal
            from lanescope import _recorder
            def interrupted(function):
                def call(*positional, **named):
                    value = function(*positional, **named)
                    os.kill(os.getpid(), signal.SIGINT)
                    return value
                return call
            for place in {places}:
                owner, _, name = place.partition(".")
                owner = getattr(_recorder, owner)
                kept = getattr(owner, name)
                setattr(owner, name, interrupted(kept))
                try:
                    with lanescope.record("cut%n.trace", trace="nvtx", **QUIET): pass
                    sys.exit("not interrupted by " + place)
                except KeyboardInterrupt:
                    pass
                setattr(owner, name, kept)
                assert "NVTX_INJECTION64_PATH" not in os.environ, place
                with lanescope.record(place + ".trace", trace="nvtx", **QUIET):
                    with annotate("work"): pass
            assert threading.enumerate() == [threading.main_thread()]
        """)
        for place in places:
            self.assertEqual(self.ranges(place + ".trace"), ["work"])


if __name__ == "__main__":
    unittest.main()
